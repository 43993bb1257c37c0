/** Installations of the App, with what is asked for each of them, and who asked an owner to install it. */
import { limitConcurrency } from '#platform/async/queue.ts'
import { withinOr } from '#platform/async/timeLimit.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { Installation, InstallationRequest } from '#platform/ports/codeHostApp.ts'
import type { QueryServices } from './services.ts'

/**
 * All of them, as they were half a minute ago at most; `null` where the code host does not say. It is one list for everybody, since each
 * reading spends the App's own limit. Throws Fault without a key.
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

/** An older code host has no such call. */
export function unlessOfHost(fault: unknown): null {
  if (!(fault instanceof CodeHostFault)) throw fault
  return null
}

/** Each detail takes up to three requests: of more installations only the list is fetched. */
const detailed = { max: 30, atOnce: 5 }

/** The installations by their accounts' names, `max` at most, with a detail of the first 30; `null` where it cannot be had, or not in time. */
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
