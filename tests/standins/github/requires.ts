/**
 * The permissions that an App needs for a call. Each route of the REST API has those of GitHub's table of permissions: `router.get(path,
 * requires(host, { checks: 'read' }), ...)`.
 */
import type { Context, Next } from 'koa'
import { mayRead } from '../../../services/codehost/state/permissions.ts'
import { acceptedText, grants, onlyReads, type Wanted } from './apps/permissions.ts'
import { notFound, Refusal } from '../../../services/codehost/httpError.ts'
import type { GitHubHost } from './host.ts'
import type { Stores } from './stores.ts'
import type { Repository } from '../../../services/codehost/state/stateSchema.ts'
import type { Permissions } from './state.ts'
import { callerOf, type Caller } from './callers.ts'

/** GitHub's sentence for an App without the permissions that a call needs. */
export const notAccessible = (): Refusal => new Refusal(403, 'Resource not accessible by integration')

/**
 * Lets a call pass if one of `alternatives` was granted for the repository in the address; all permissions of an alternative are needed. Calls
 * without a token pass, because routes refuse them themselves. Everybody may read public things. Throws Refusal 403, and 404 for a repository that
 * the caller may not know of.
 */
export function requires(
  host: Pick<GitHubHost, 'store' | 'github' | 'clock' | 'repositories'>,
  ...alternatives: readonly [Wanted, ...Wanted[]]
) {
  return async (
    ctx: Context & { params: Record<string, string | string[] | undefined> },
    next: Next,
  ): Promise<void> => {
    const caller = callerOf(ctx, host)
    if (caller.kind !== 'nobody') ctx.set('X-Accepted-GitHub-Permissions', acceptedText(alternatives))
    const { owner, repo } = ctx.params
    if (owner === undefined || repo === undefined) {
      if (!isGranted(caller, undefined, host, alternatives)) throw notAccessible()
    } else {
      const repository = host.repositories.find(String(owner), String(repo))
      const viewer = caller.kind === 'nobody' ? undefined : caller.account
      if (!repository || !mayRead(viewer, repository)) throw notFound()
      if (!isGranted(caller, repository, host, alternatives)) throw notAccessible()
    }
    await next()
  }
}

/** Whether the caller's App was granted one of `alternatives` for the repository; `undefined` stands for no particular one. */
export function isGranted(
  caller: Caller,
  repository: Repository | undefined,
  host: Stores,
  alternatives: readonly Wanted[],
): boolean {
  if (caller.kind === 'nobody') return true
  if (repository && !repository.isPrivate && alternatives.some(onlyReads)) return true
  const granted = grantedOn(caller, repository, host)
  return granted !== undefined && alternatives.some((wanted) => grants(granted, wanted))
}

/** The permissions that the caller's App was granted for the repository; `undefined` when it is not installed, or suspended. */
function grantedOn(
  caller: Exclude<Caller, { kind: 'nobody' }>,
  repository: Repository | undefined,
  { github }: Stores,
): Permissions | undefined {
  if (caller.kind === 'installation') {
    return !repository || caller.account.reach?.covers(repository) ? caller.permissions : undefined
  }
  const { installations } = github.current()
  const of = installations.filter((one) => one.appId === caller.app.id && one.suspended === null)
  const account = repository?.owner ?? caller.account.login
  const found = of.find((one) => one.account.toLowerCase() === account.toLowerCase())
  const covers = !repository || caller.account.reach?.covers(repository) === true
  return covers ? found?.permissions : undefined
}
