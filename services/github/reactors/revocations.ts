/**
 * Ends connections whose grant a person took back at the code host. A delivery only says whose token to check, since anybody who knows the
 * webhook's secret can send one: the connection ends when the host itself refuses the token.
 */
import { randomUUID } from 'node:crypto'
import { identity } from '#domain/identity.ts'
import type { Position } from '#domain/kernel/event.ts'
import { identityStream, userStream } from '#domain/kernel/streams.ts'
import type { LogIdentity } from '#domain/log.ts'
import { user } from '#domain/user/user.ts'
import { idOfAccount } from '#platform/access/accountId.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import type { EventFilter, EventStore, LogRecord } from '#platform/ports/eventStore.ts'
import type { Jobs } from '#platform/ports/jobs.ts'
import type { Held } from '#platform/ports/leases.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { hintedWork, isTransient, type HintedWork } from '../refresh/hintedWork.ts'
import type { HintTimes } from '../refresh/hints.ts'

export interface RevocationEngines {
  readonly eventStore: Pick<EventStore, 'subscribe' | 'head'>
  readonly jobs: Pick<Jobs, 'mark' | 'marked'>
  readonly log: Pick<EventLog, 'open'>
  readonly logIdentity: LogIdentity
  readonly commands: Pick<Commands, 'load' | 'execute'>
  readonly access: Pick<HostAccess, 'endIfRefused'>
  readonly vault: Pick<Vault, 'deriveKey'>
  readonly logger: Logger
  /** Accounts of one code host are not those of another. */
  readonly codeHostName: string
}

/** A person is asked about once a minute at most, however many deliveries name them. */
const usualTimes: HintTimes = { restMs: 200, againMs: 60_000 }
const mostHinted = 1_000
const batch = 500
const wanted: EventFilter = { streams: ['delivery-'], types: ['DeliveryReceived'] }
const actor = { kind: 'system', service: 'revocations' } as const

interface Revocations {
  readonly engines: RevocationEngines
  readonly mark: string
  /** Looks at people who were named, by their id here. */
  readonly looking: HintedWork
  /** Deliveries up to here were heard, and those up to `marked` need no second look. */
  heard: Position | null
  marked: Position | null
}

/** Goes on until it is stopped. */
export async function startRevocations(
  engines: RevocationEngines,
  times: HintTimes = usualTimes,
  most: number = mostHinted,
): Promise<Held> {
  const { eventStore, jobs, logIdentity } = engines
  const mark = `revocations-${logIdentity.logId}-${logIdentity.epoch}`
  const before = await jobs.marked(mark)
  const from = before ?? (await eventStore.head())
  // If a first process ends early, the next one begins where it did.
  if (before === null && from !== null) await jobs.mark(mark, from)
  const looking = hintedWork({
    times,
    most,
    workOn: (userId) => lookAt(engines, userId),
    afterwards: () =>
      advanceMark(revocations).catch((err: unknown) =>
        engines.logger.warn({ err }, 'failed to note which deliveries were looked at'),
      ),
  })
  const revocations: Revocations = { engines, mark, looking, heard: from, marked: from }
  const hear = async (events: readonly LogRecord[], upTo: Position) => {
    // If the process ends before there is room, the next one hears the rest.
    for (const stored of events) if (!(await isNoted(revocations, stored))) return
    revocations.heard = upTo
    await advanceMark(revocations)
  }
  const subscription = eventStore.subscribe(from, batch, hear, wanted)
  return {
    async stop() {
      await Promise.all([looking.stop(), subscription.stop()])
    },
  }
}

/** `false` where the process ends before there is room. */
async function isNoted({ engines, looking }: Revocations, stored: LogRecord): Promise<boolean> {
  const { log, commands, vault, codeHostName, logger } = engines
  try {
    const event = await log.open(stored)
    if (event.type !== 'DeliveryReceived') return true
    const { event: name, action } = event.data
    const senderId = event.content?.senderId ?? null
    if (name !== 'github_app_authorization' || action !== 'revoked' || senderId === null) return true
    const account = identityStream(idOfAccount(vault, codeHostName, senderId))
    const { userId } = (await commands.load(identity, account)).state
    return userId === null || (await looking.add(userId, 'now and then'))
  } catch (fault) {
    if (!(fault instanceof UnreadableEvent)) throw fault
    logger.warn({ stream: stored.stream, reason: fault.reason }, 'skipped an unreadable delivery')
    return true
  }
}

/** `later` where it is not known now whether the host still takes the person's token. */
async function lookAt(
  { commands, access, logger }: RevocationEngines,
  userId: string,
): Promise<'done' | 'later'> {
  const stream = userStream(userId)
  try {
    const { state, head } = await commands.load(user, stream)
    if (state.kind !== 'user') return 'done'
    // A sign-in stores its tokens before it is recorded, so the refused token may no longer be theirs.
    const end = { type: 'DisconnectGitHub', asOf: head.revision } as const
    await access.endIfRefused(userId, () =>
      commands.execute(user, stream, end, { actor, commandId: randomUUID() }),
    )
    return 'done'
  } catch (fault) {
    if (isTransient(fault)) return 'later'
    logger.warn({ err: fault, userId }, 'failed to look at a grant that may have been taken back')
    return 'done'
  }
}

/** Moves only when nobody waits to be looked at: a process that dies before that looks again. */
async function advanceMark(revocations: Revocations): Promise<void> {
  const { engines, mark, looking, heard, marked } = revocations
  if (heard === null || heard === marked || !looking.isIdle()) return
  revocations.marked = heard
  await engines.jobs.mark(mark, heard)
}
