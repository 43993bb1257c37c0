/**
 * Ends connections whose grant a person revoked at the code host. A delivery only says whose token to check, since anybody who knows the webhook's
 * secret can send one: the connection ends when the host itself refuses the token.
 */
import { identity } from '#domain/identity.ts'
import { identityStream, userStream } from '#domain/kernel/streams.ts'
import { user } from '#domain/user/user.ts'
import { bySystem } from '#platform/commands/causation.ts'
import { idOfAccount } from '#platform/access/accountId.ts'
import type { Engines } from '#platform/compose.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { startReactor, type ReactorEngines } from '#platform/eventlog/reactor.ts'
import type { LogRecord } from '#platform/ports/eventStore.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { isTransient } from '../faults.ts'
import { deliveryFilter, openDelivery } from '../refresh/deliveries.ts'
import { hintedWork, type HintTimes } from '../refresh/hints.ts'

type RevocationEngines = ReactorEngines &
  Pick<Engines, 'log' | 'vault' | 'logger'> & {
    readonly commands: Pick<Engines['commands'], 'load' | 'execute'>
    readonly access: Pick<HostAccess, 'endIfRefused'>
    /** Accounts of one code host are not those of another. */
    readonly codeHostName: string
  }

/** The host is asked about a person once a minute at most, however many deliveries name them. */
const usualTimes: HintTimes = { burstPauseMs: 200, minIntervalMs: 60_000 }
const maxHinted = 1_000

/** Runs until it is stopped. */
export async function startRevocations(
  engines: RevocationEngines,
  times: HintTimes = usualTimes,
  max: number = maxHinted,
): Promise<RunningWork> {
  /** Looks at people who were named, by their id here. */
  const looking = hintedWork({ times, max, workOn: (userId) => lookAt(engines, userId) })
  const reactor = await startReactor(engines, {
    marks: ['revocations'],
    from: 'head',
    filter: deliveryFilter,
    handle: async (events) => {
      for (const stored of events) {
        const userId = await namedBy(engines, stored)
        // If the process ends before there is room, the next one hears the rest.
        if (userId !== null && !(await looking.add(userId, 'now and then'))) return
      }
    },
    isDone: looking.isIdle,
  })
  return {
    async stop() {
      await Promise.all([looking.stop(), reactor.stop()])
    },
  }
}

/** The person whose grant was revoked, according to a delivery. */
async function namedBy(engines: RevocationEngines, stored: LogRecord): Promise<string | null> {
  const delivery = await openDelivery(engines, stored)
  const { event, action } = delivery?.data ?? {}
  const senderId = delivery?.content?.senderId ?? null
  if (event !== 'github_app_authorization' || action !== 'revoked' || senderId === null) return null
  const account = identityStream(idOfAccount(engines.vault, engines.codeHostName, senderId))
  try {
    return (await engines.commands.load(identity, account)).state.userId
  } catch (fault) {
    if (!(fault instanceof UnreadableEvent)) throw fault
    // An account whose record is damaged must not delay the others.
    engines.logger.warn({ err: fault }, 'skipped a revocation of an account that cannot be read')
    return null
  }
}

/** Checks a person's token; `later` when it is not known now whether the host still accepts it. */
async function lookAt(
  { commands, access, logger }: RevocationEngines,
  userId: string,
): Promise<'done' | 'later'> {
  const stream = userStream(userId)
  try {
    const { state, head } = await commands.load(user, stream)
    if (state.kind !== 'user') return 'done'
    // A sign-in stores its tokens before it is recorded, so the refused token may no longer be the person's.
    const end = { type: 'DisconnectGitHub', asOf: head.revision } as const
    await access.endIfRefused(userId, () => commands.execute(user, stream, end, bySystem('revocations')))
    return 'done'
  } catch (fault) {
    if (isTransient(fault)) return 'later'
    logger.warn({ err: fault, userId }, 'failed to look at a grant that may have been taken back')
    return 'done'
  }
}
