/**
 * Ends connections whose grant a person revoked at the code host. Anybody who knows the webhook's secret can send a delivery, so a delivery only says
 * whose token to check. The connection is ended only if the code host itself refuses the token.
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
    /** The name of the code host to which the accounts belong. */
    readonly codeHostName: string
  }

/** The token of a person is checked once a minute at most, however many deliveries name the person. */
const usualTimes: HintTimes = { burstPauseMs: 200, minIntervalMs: 60_000 }
const maxHinted = 1_000

/** Checks reported revocations until it is stopped. */
export async function startRevocations(
  engines: RevocationEngines,
  times: HintTimes = usualTimes,
  max: number = maxHinted,
): Promise<RunningWork> {
  /** Checks the tokens of people whom deliveries name. */
  const looking = hintedWork({ times, max, workOn: (userId) => lookAt(engines, userId) })
  const reactor = await startReactor(engines, {
    marks: ['revocations'],
    from: 'head',
    filter: deliveryFilter,
    handle: async (events) => {
      for (const stored of events) {
        const userId = await namedBy(engines, stored)
        // `add` waits while `looking` is full. If this process is stopped meanwhile, `add` returns `false`, and the next process gets the event
        // again.
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

/** The user whose grant a delivery reports as revoked; `null` when it reports none, or when the account belongs to nobody or cannot be read. */
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
    // An account with a damaged record is skipped, so that the other accounts are still handled.
    engines.logger.warn({ err: fault }, 'skipped a revocation of an account that cannot be read')
    return null
  }
}

/** Checks the person's token, and ends the connection if the code host refuses it. `later` after a fault that may pass. */
async function lookAt(
  { commands, access, logger }: RevocationEngines,
  userId: string,
): Promise<'done' | 'later'> {
  const stream = userStream(userId)
  try {
    const { state, head } = await commands.load(user, stream)
    if (state.kind !== 'user') return 'done'
    // A sign-in stores its tokens before it is recorded, so the refused token may already be replaced.
    const end = { type: 'DisconnectGitHub', asOf: head.revision } as const
    await access.endIfRefused(userId, () => commands.execute(user, stream, end, bySystem('revocations')))
    return 'done'
  } catch (fault) {
    if (isTransient(fault)) return 'later'
    logger.warn({ err: fault, userId }, 'failed to look at a grant that may have been taken back')
    return 'done'
  }
}
