/** Checks the token of single-user mode at the start, so that one that is refused or lacks rights is reported before somebody signs in. */
import { tokenPage } from '#domain/appPermissions.ts'
import { missingScopes, tokenKindOf } from '#domain/codeHostToken.ts'
import { within } from '#platform/async/timeLimit.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'

/** How long the start waits for the code host. */
const askedWithinMs = 3_000

const fineGrained =
  'The rights of a fine-grained token cannot be listed. The one in GITHUB_TOKEN needs Contents, Pull requests and Issues (read and write), Actions and Commit statuses (read), and Workflows (read and write) for changes of workflow files.'

/** The operator's line about GITHUB_TOKEN; `null` if there is nothing to say, or no such token. Never throws a fault of the code host. */
export async function ownTokenLine(
  { ownToken, tokenScopes }: Pick<CodeHost, 'ownToken' | 'tokenScopes'>,
  withinMs = askedWithinMs,
): Promise<string | null> {
  if (ownToken === undefined) return null
  const late = () => new CodeHostFault('unavailable', 'GitHub did not answer in time.')
  try {
    const scopes = await within(withinMs, tokenScopes(ownToken), late)
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
