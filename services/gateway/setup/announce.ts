/** What the operator is told about the GitHub App or GITHUB_TOKEN when the product starts. */
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
 * The line that is printed, or `null` once there is an App. The code is also written into a file that only the operator can read. In the address it
 * follows the `#`, which browsers send to nobody.
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

/** How long the start waits for the code host. */
const tokenCheckTimeoutMs = 3_000

const fineGrained =
  'The rights of a fine-grained token cannot be listed. The one in GITHUB_TOKEN needs Contents, Pull requests and Issues (read and write), Actions and Commit statuses (read), and Workflows (read and write) for changes of workflow files.'

/**
 * A line for the operator about GITHUB_TOKEN, so that a token that is refused or lacks rights is reported before somebody signs in; `null` if there
 * is nothing to say, or no such token. Never throws a fault of the code host.
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
 * The code that authorizes somebody to set this server up: derived from the master key, so that every process knows it. It has 144 bits, in
 * characters that are valid in addresses. It never changes and is valid while there is no App, so a log of a start must be kept secret.
 */
const setupCodeOf = ({ deriveKey }: Pick<Vault, 'deriveKey'>): string =>
  Buffer.from(deriveKey('setup-code')).toString('base64url').slice(0, 24)

export function isSetupCode(given: string, vault: Pick<Vault, 'deriveKey'>): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(setupCodeOf(vault)))
}
