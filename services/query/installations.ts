/** The installations of the App with details, and people's requests to owners to install the App. */
import { limitConcurrency } from '#platform/async/queue.ts'
import { withinOr } from '#platform/async/timeLimit.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { Installation, InstallationRequest } from '#platform/ports/codeHostApp.ts'
import type { QueryServices } from './services.ts'

/**
 * All requests to install the App; `null` when the code host does not say. The list is cached for half a minute, for everybody together, because
 * reading it uses the App's own rate limit. Throws Fault when the App has no key.
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

/** Returns `null` for a fault of the code host, because older versions of GitHub Enterprise lack some calls. Throws any other fault again. */
export function unlessOfHost(fault: unknown): null {
  if (!(fault instanceof CodeHostFault)) throw fault
  return null
}

/** The number of installations whose details are read, and how many are read at once. Each installation needs up to three requests. */
const detailed = { max: 30, atOnce: 5 }

/**
 * At most `max` installations, sorted by account name. The detail is `null` beyond the first 30, for a suspended installation, and when it could not
 * be read within `timeoutMs`.
 */
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
