/** Determines what the people who ask for an issue may do, in the repository and on this server, in the reading that counts. */
import { mayWrite, type IssueAsk, type JudgedAsk } from '#domain/project/issues.ts'
import type { RepositoryRight } from '#domain/task/codeHost/feedbackEvents.ts'
import type { Engines } from '#platform/compose.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { CodeHost, RepositoryName } from '#platform/ports/codeHost.ts'
import { standingOf, toldRight } from '../feedback/feedbackAuthors.ts'
import { isHostUnavailable } from '../faults.ts'

export interface RightsDeps extends Pick<Engines, 'vault' | 'logger'> {
  readonly commands: Pick<Commands, 'load'>
  readonly codeHost: Pick<CodeHost, 'repositoryRight'>
  readonly accessControl: Pick<AccessControl, 'check'>
  /** The code host whose accounts these are. */
  readonly codeHostName: string
}

/** The repository of a project, with a token that can read it. */
export interface RightsIn {
  readonly document: { readonly id: string }
  readonly token: string
  readonly repository: RepositoryName
}

/** The right of an account; `none` when the host does not reveal it. Throws when the host cannot be asked for now. */
export const askRight = async (
  deps: Pick<RightsDeps, 'codeHost' | 'logger'>,
  { document, ...of }: RightsIn,
  account: IssueAsk['author'],
): Promise<RepositoryRight> => (await toldRight(deps, of, account, { projectId: document.id })) ?? 'none'

/** Whether one of these accounts may write. */
export async function mayAnyWrite(
  deps: Pick<RightsDeps, 'codeHost' | 'logger'>,
  of: RightsIn,
  accounts: readonly IssueAsk['author'][],
): Promise<boolean> {
  for (const account of accounts) if (mayWrite(await askRight(deps, of, account))) return true
  return false
}

/** Whether somebody with this right uses this server; `unasked` when that is not known for now, which delays nobody else. */
export async function standingNow(
  deps: RightsDeps,
  right: RepositoryRight,
  accountId: string,
): Promise<JudgedAsk['standing']> {
  if (!mayWrite(right)) return 'unknown'
  return standingOf(deps, accountId).catch((fault: unknown) => {
    if (isHostUnavailable(fault)) return 'unasked'
    throw fault
  })
}
