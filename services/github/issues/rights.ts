/**
 * What people who request a task for an issue may do in the repository and on this server. The permission in the repository is never cached; whether
 * a person may use this server may be known from minutes ago.
 */
import { mayWrite, type IssueRequest, type JudgedRequest } from '#domain/project/issues.ts'
import type { RepositoryRight } from '#domain/task/codeHost/feedbackEvents.ts'
import type { Engines } from '#platform/compose.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { CodeHost, RepositoryName } from '#platform/ports/codeHost.ts'
import { standingOf, rightAtHost } from '../feedback/feedbackAuthors.ts'
import { isHostUnavailable } from '../faults.ts'

export interface RightsDeps extends Pick<Engines, 'vault' | 'logger'> {
  readonly commands: Pick<Commands, 'load'>
  readonly codeHost: Pick<CodeHost, 'repositoryRight'>
  readonly accessControl: Pick<AccessControl, 'check'>
  /** The name of the code host to which the accounts belong. */
  readonly codeHostName: string
}

/** The repository of a project, with a token that can read it. */
export interface RightsIn {
  readonly document: { readonly id: string }
  readonly token: string
  readonly repository: RepositoryName
}

/** The account's permission in the repository; `none` when the code host does not reveal it. Throws when the code host cannot answer for now. */
export const askRight = async (
  deps: Pick<RightsDeps, 'codeHost' | 'logger'>,
  { document, ...of }: RightsIn,
  account: IssueRequest['author'],
): Promise<RepositoryRight> => (await rightAtHost(deps, of, account, { projectId: document.id })) ?? 'none'

/** Whether any of `accounts` may write to the repository. */
export async function mayAnyWrite(
  deps: Pick<RightsDeps, 'codeHost' | 'logger'>,
  of: RightsIn,
  accounts: readonly IssueRequest['author'][],
): Promise<boolean> {
  for (const account of accounts) if (mayWrite(await askRight(deps, of, account))) return true
  return false
}

/**
 * Whether the account belongs to a user of this server. Always `unknown` for an account that may not write to the repository. `unasked` when the
 * answer is not available for now, so that other issues do not have to wait.
 */
export async function standingNow(
  deps: RightsDeps,
  right: RepositoryRight,
  accountId: string,
): Promise<JudgedRequest['standing']> {
  if (!mayWrite(right)) return 'unknown'
  return standingOf(deps, accountId).catch((fault: unknown) => {
    if (isHostUnavailable(fault)) return 'unasked'
    throw fault
  })
}
