/** Installations of the App with details about each, and requests to owners to install it. */
import { limitConcurrency } from '#platform/async/queue.ts'
import { withinOr } from '#platform/async/timeLimit.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { Installation, InstallationRequest } from '#platform/ports/codeHostApp.ts'
import type { QueryServices } from './services.ts'

/**
 * All requests to install the App, cached for half a minute; `null` when the code host does not say. Everybody gets the same cached list, since each
 * reading uses the App's own rate limit. Throws Fault without a key.
 */
export async function installationRequestsOf({
  hostApp,
  gitHubAnswers,
  codeHostApps,
}: Pick<QueryServices, 'hostApp' | 'gitHubAnswers'> & {
  readonly codeHostApps: Pick<QueryServices['codeHostApps'], 'installationRequests'>
}): Promise<readonly InstallationRequest[] | null> {
  const app = await hostApp.current()
  const read = async () => ({ found: await codeHostApps.installationRequests().catch(unlessOfHost) })
  return (await gitHubAnswers.requests.of(app?.clientId ?? '', read, { again: true })).found
}

/** Returns `null` for a fault of the code host, whose older versions have no such call. Throws any other fault again. */
export function unlessOfHost(fault: unknown): null {
  if (!(fault instanceof CodeHostFault)) throw fault
  return null
}

/** How many installations get details, which need up to three requests each. Further ones are only listed. */
const detailed = { max: 30, atOnce: 5 }

/** At most `max` installations, sorted by account name. The first 30 have a detail; `null` when it is not available, or not in time. */
export async function withDetails<Detail, Shown>(
  found: readonly Installation[],
  { max, timeoutMs }: { readonly max: number; readonly timeoutMs: number },
  detailOf: (one: Installation) => Promise<Detail | null>,
  shownAs: (one: Installation, detail: Detail | null) => Shown,
): Promise<Shown[]> {
  const inTurn = limitConcurrency(detailed.atOnce)
  const name = ({ account }: Installation) => account.login.toLowerCase()
  const shown = found.toSorted((one, other) => (name(one) < name(other) ? -1 : 1)).slice(0, max)
  return Promise.all(
    shown.map(async (one, index) => {
      if (index >= detailed.max || one.suspendedAt !== null) return shownAs(one, null)
      return shownAs(
        one,
        await withinOr(
          timeoutMs,
          inTurn(() => detailOf(one)),
          null,
        ),
      )
    }),
  )
}
