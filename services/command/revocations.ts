/**
 * Ends connections whose grant a person took back at the code host. A delivery only says whose token to look at, and whoever knows the
 * webhook's secret can send one: the connection ends when the host itself refuses the token.
 */
import { randomUUID } from 'node:crypto'
import { identity } from '#domain/identity.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import { identityStream, userStream } from '#domain/kernel/streams.ts'
import type { LogIdentity } from '#domain/log.ts'
import { user } from '#domain/user/user.ts'
import { idOfAccount } from '#platform/access/accountId.ts'
import { rounds, type Rounds } from '#platform/async/rounds.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { EventFilter, EventStore } from '#platform/ports/eventStore.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Jobs } from '#platform/ports/jobs.ts'
import type { Held } from '#platform/ports/leases.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { hints, type Hints, type HintTimes } from './hints.ts'

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
  /** People who were named, by their id here. */
  readonly hinted: Hints
  /** So many people wait or are looked at; deliveries about others are not read before there is room. */
  readonly most: number
  readonly looking: Rounds
  /** Deliveries up to here were heard, and those up to `marked` need no second look. */
  heard: Position | null
  marked: Position | null
  /** People who were taken to be looked at and may have to wait again. */
  beingLookedAt: number
  isStopped: boolean
  /** Somebody was looked at, or it ends. */
  rouse: () => void
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
  // Whoever comes after a first process that ends early begins where that one did.
  if (before === null && from !== null) await jobs.mark(mark, from)
  const revocations: Revocations = {
    engines,
    mark,
    hinted: hints(times, most),
    most,
    looking: rounds(() => look(revocations)),
    heard: from,
    marked: from,
    beingLookedAt: 0,
    isStopped: false,
    rouse: () => undefined,
  }
  const hear = async (events: readonly StoredEvent[], upTo: Position) => {
    for (const stored of events) await note(revocations, stored)
    // What finds no room as the process ends the next one hears.
    if (revocations.isStopped) return
    revocations.heard = upTo
    awaitNext(revocations)
    await advanceMark(revocations)
  }
  const subscription = eventStore.subscribe(from, batch, hear, wanted)
  return {
    async stop() {
      revocations.isStopped = true
      revocations.rouse()
      await subscription.stop()
      await revocations.looking.stop()
    },
  }
}

async function note(revocations: Revocations, stored: StoredEvent): Promise<void> {
  const { engines, hinted } = revocations
  const { log, commands, vault, codeHostName, logger } = engines
  try {
    const event = await log.open(stored)
    if (event.type !== 'DeliveryReceived') return
    const { event: name, action } = event.data
    const senderId = event.content?.senderId ?? null
    if (name !== 'github_app_authorization' || action !== 'revoked' || senderId === null) return
    const account = identityStream(idOfAccount(vault, codeHostName, senderId))
    const { userId } = (await commands.load(identity, account)).state
    if (userId !== null && (await hasRoom(revocations))) hinted.add(userId, 'now and then', performance.now())
  } catch (fault) {
    if (!(fault instanceof UnreadableEvent)) throw fault
    logger.warn({ stream: stored.stream, reason: fault.reason }, 'skipped an unreadable delivery')
  }
}

/** Waits for room; `false` where the process ends first. */
async function hasRoom(revocations: Revocations): Promise<boolean> {
  const { hinted, most } = revocations
  while (!revocations.isStopped && hinted.size() + revocations.beingLookedAt >= most) {
    awaitNext(revocations)
    await new Promise<void>((resolve) => void (revocations.rouse = resolve))
  }
  return !revocations.isStopped
}

function awaitNext({ hinted, looking }: Revocations): void {
  const dueAt = hinted.dueAt()
  if (dueAt !== undefined) looking.within(dueAt - performance.now())
}

/** Looks at everybody who is due. Whoever cannot be looked at now is due again. */
async function look(revocations: Revocations): Promise<void> {
  const { engines, hinted } = revocations
  const due = hinted.take(performance.now())
  revocations.beingLookedAt = due.length
  for (const userId of due) {
    const isDone = !revocations.isStopped && (await lookAt(engines, userId))
    if (!isDone) hinted.keep(userId, performance.now())
    revocations.beingLookedAt -= 1
    revocations.rouse()
  }
  awaitNext(revocations)
  await advanceMark(revocations).catch((err: unknown) =>
    engines.logger.warn({ err }, 'failed to note which deliveries were looked at'),
  )
}

/** `false` where it is not known now whether the host still takes the person's token. */
async function lookAt({ commands, access, logger }: RevocationEngines, userId: string): Promise<boolean> {
  const stream = userStream(userId)
  try {
    const { state, head } = await commands.load(user, stream)
    if (state.kind !== 'user') return true
    // A sign-in keeps its tokens before it is recorded: what was refused may be theirs no more.
    const end = { type: 'DisconnectGitHub', asOf: head.revision } as const
    await access.endIfRefused(userId, () =>
      commands.execute(user, stream, end, { actor, commandId: randomUUID() }),
    )
    return true
  } catch (fault) {
    const isPassing =
      fault instanceof EngineUnavailable ||
      (fault instanceof Fault && fault.code === 'conflict') ||
      (fault instanceof CodeHostFault && ['unavailable', 'rate_limited'].includes(fault.kind))
    if (isPassing) return false
    logger.warn({ err: fault, userId }, 'failed to look at a grant that may have been taken back')
    return true
  }
}

/** Only past what nobody waits for: a process that dies before that looks again. */
async function advanceMark(revocations: Revocations): Promise<void> {
  const { engines, mark, hinted, heard, marked, beingLookedAt } = revocations
  if (heard === null || heard === marked || beingLookedAt > 0 || hinted.dueAt() !== undefined) return
  revocations.marked = heard
  await engines.jobs.mark(mark, heard)
}
