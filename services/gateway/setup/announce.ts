/** Tells the operator how the server is set up, while there is no GitHub App. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setupPath } from '#domain/api/setup.ts'
import type { Engines } from '#platform/compose.ts'
import { setupCodeOf } from '#platform/credentials/setupCode.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import type { Vault } from '#platform/ports/vault.ts'

interface Announcing extends Pick<Engines, 'hostApp' | 'logger'> {
  readonly vault: Pick<Vault, 'deriveKey'>
  readonly codeHost: Pick<CodeHost, 'ownToken'>
}

/**
 * The line that is printed, or `null` once there is an App. The code is also in a file that only the operator reads. It stands behind the
 * `#` of the address, which browsers send to nobody.
 */
export async function setupLine(
  {
    address,
    dataDir,
    hostName,
  }: { readonly address: string; readonly dataDir: string; readonly hostName: string },
  { hostApp, vault, logger, codeHost }: Announcing,
): Promise<string | null> {
  if (codeHost.ownToken !== undefined)
    return `Single-user mode: whoever opens it on this machine is the owner of GITHUB_TOKEN at ${hostName}.`
  const file = join(dataDir, 'setup-code')
  if ((await hostApp.current()) !== undefined) {
    await rm(file, { force: true }).catch(() => undefined)
    return null
  }
  const code = setupCodeOf(vault)
  // A gateway with shared engines may have no data folder.
  await rm(file, { force: true })
    .then(() => writeFile(file, `${code}\n`, { mode: 0o600, flag: 'wx' }))
    .catch((fault: unknown) => logger.info({ err: fault }, 'the code for the set-up is in no file'))
  return `Connect this server to GitHub: ${address}${setupPath}#code=${code}`
}
