/** Warns before a task's first turn, instead of after the work, that the code host may refuse its pull request. */
import { withinOr } from '#platform/async/timeLimit.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import type { WorkspaceDeps } from '../deps.ts'
import type { RepositoryAccess } from './repositoryAccess.ts'

/** How long the start of a run waits for the code host's rules, in milliseconds. */
const rulesTimeoutMs = 3_000

/**
 * The lines for the terminal when a branch requires signed commits and this server does not sign; `null` otherwise, or if the code host does not say
 * so in time. Never throws.
 */
export async function unsignedWarning(
  deps: Pick<WorkspaceDeps, 'commitSigner'> & { readonly codeHost: Pick<CodeHost, 'takesOnlySigned'> },
  { repository, access }: Pick<RepositoryAccess, 'repository' | 'access'>,
  branch: string,
): Promise<string | null> {
  if (deps.commitSigner) return null
  const asking = deps.codeHost.takesOnlySigned(access.gitToken, repository, branch).catch(() => false)
  if (!(await withinOr(rulesTimeoutMs, asking, false))) return null
  // The lines are short, because the terminal does not wrap them.
  return [
    `Warning: ${branch} takes only signed commits, and this server signs none.`,
    "GitHub may refuse to merge this task's pull request.",
    'An administrator can set COMMIT_SIGNING_KEY and COMMIT_SIGNER.',
  ].join('\n')
}
