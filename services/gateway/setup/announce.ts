/** The lines about the GitHub App or GITHUB_TOKEN that the operator gets at the start, and the check of the set-up code. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setupPath } from '#domain/api/setup.ts'
import type { Engines } from '#platform/compose.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { tokenPage } from '#domain/appPermissions.ts'
import { missingScopes, tokenKindOf } from '#domain/codeHostToken.ts'
import { within } from '#platform/async/timeLimit.ts'
import { createHash, timingSafeEqual } from 'node:crypto'

interface Announcing extends Pick<Engines, 'hostApp' | 'logger'> {
  readonly vault: Pick<Vault, 'deriveKey'>
  readonly codeHost: Pick<CodeHost, 'ownToken'>
}

/**
 * The line that leads the operator to the set-up page; `null` when there is an App. Its address contains the set-up code after the `#`, a part that
 * browsers never send. The code is also written to a file that only the operator can read. With GITHUB_TOKEN, the line says that this is single-user
 * mode.
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
  // If the code cannot be written to a file, the start goes on: a gateway with shared engines may have no data folder.
  await rm(file, { force: true })
    .then(() => writeFile(file, `${code}\n`, { mode: 0o600, flag: 'wx' }))
    .catch((fault: unknown) => logger.info({ err: fault }, 'the code for the set-up is in no file'))
  return `Connect this server to GitHub: ${address}${setupPath}#code=${code}`
}

/** How long the start of the server waits for the code host's answer about GITHUB_TOKEN. */
const tokenCheckTimeoutMs = 3_000

const fineGrained =
  'The rights of a fine-grained token cannot be listed. The one in GITHUB_TOKEN needs Contents, Pull requests and Issues (read and write), Actions and Commit statuses (read), and Workflows (read and write) for changes of workflow files.'

/**
 * The operator's line about `GITHUB_TOKEN`, so that a token that is refused or lacks permissions is reported before somebody signs in. `null` if
 * there is nothing to report, or if no `GITHUB_TOKEN` is set. Never throws a fault of the code host.
 */
export async function ownTokenLine(
  { ownToken, tokenScopes }: Pick<CodeHost, 'ownToken' | 'tokenScopes'>,
  timeoutMs = tokenCheckTimeoutMs,
): Promise<string | null> {
  if (ownToken === undefined) return null
  const late = () => new CodeHostFault('unavailable', 'GitHub did not answer in time.')
  try {
    const scopes = await within(timeoutMs, tokenScopes(ownToken), late)
    if (tokenKindOf(ownToken) === 'fine_grained') return fineGrained
    const missing = scopes === null ? [] : missingScopes(scopes)
    if (missing.length === 0) return null
    return `The token in GITHUB_TOKEN lacks scopes: ${missing.join(', ')}. Its owner can add them ${tokenPage}.`
  } catch (fault) {
    if (!(fault instanceof CodeHostFault)) throw fault
    return fault.kind === 'unauthorized'
      ? fault.message
      : `The token in GITHUB_TOKEN could not be checked: ${fault.message}`
  }
}

/**
 * The code that authorizes somebody to set up this server: derived from the master key, so that every process knows it. 144 bits, in characters that
 * are valid in addresses. The code is the same at every start and valid while there is no App, so logs of a start must be kept secret.
 */
const setupCodeOf = ({ deriveKey }: Pick<Vault, 'deriveKey'>): string =>
  Buffer.from(deriveKey('setup-code')).toString('base64url').slice(0, 24)

export function isSetupCode(given: string, vault: Pick<Vault, 'deriveKey'>): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(setupCodeOf(vault)))
}
