/** Who asked an owner to install the App. */
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { InstallationRequest } from '#platform/ports/codeHostApp.ts'
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
