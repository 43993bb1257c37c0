/** The REST API's routes for one repository: the repository itself, its branches and refs, and people's permissions in it. */
import type { Router } from '@koa/router'
import type { Context } from 'koa'
import { z } from 'zod'
import { accountOf, ownerOf, type Account, type Owner } from '../state/accounts.ts'
import { mayPush, roleOf } from '../state/permissions.ts'
import type { Actor } from '../state/actors.ts'
import type { Host } from '../host.ts'
import { originOf } from '../http/origin.ts'
import { callerOf, readable, signedIn, tokenHolder } from '../http/authenticate.ts'
import { repositoryName } from '../repositories/repositories.ts'
import { invalid, notFound, Refusal } from '../httpError.ts'
import type { Repository } from '../state/stateSchema.ts'
import { fullRepository, simpleUser, type FullRepository } from './responses.ts'
import type { About } from './reviewResponses.ts'
import { bodyAs, answerPage } from './requests.ts'
import type { Commit } from '../git/bareRepository.ts'

const NewRepository = z.object({
  name: z.string().min(1),
  description: z.string().max(10_000).nullish(),
  private: z.boolean().nullish(),
})

/** The value of GitHub's field `permission` for each role. */
const permissionOf = {
  admin: 'admin',
  maintain: 'write',
  write: 'write',
  triage: 'read',
  read: 'read',
  none: 'none',
} as const

export function repositoryRoutes(router: Router, host: Host): void {
  router.get('/repos/:owner/:repo', (ctx) => {
    const { answer } = asked(ctx, host)
    ctx.body = answer
  })

  router.get('/repositories/:id', (ctx) => {
    const found = host.store.current().repositories.find(({ id }) => String(id) === ctx.params['id'])
    if (!found) throw notFound()
    ctx.params = { owner: found.owner, repo: found.name }
    ctx.body = asked(ctx, host).answer
  })

  // The local code host has no rules for branches. Only the extension of tests (see host.ts) has rules.
  router.get('/repos/:owner/:repo/rules/branches/*branch', (ctx) => {
    asked(ctx, host)
    ctx.body = []
  })

  router.get('/repos/:owner/:repo/collaborators/:login/permission', (ctx) => {
    signedIn(ctx, host)
    const { repository, origin } = asked(ctx, host)
    const account = accountOf(String(ctx.params['login']))
    if (!account) throw notFound()
    const role = roleOf(account, repository)
    const user = { ...simpleUser(origin, account), role_name: role }
    ctx.body = { permission: permissionOf[role], role_name: role, user }
  })

  router.get('/repos/:owner/:repo/branches', async (ctx) => {
    const { repository, answer, origin } = asked(ctx, host)
    const branches = await host.repositories.bare(repository).branches()
    answerPage(ctx, origin, [...branches], ([name, sha]) =>
      shortBranch(answer, name, sha, isProtected(host, repository, name)),
    )
  })

  router.get('/repos/:owner/:repo/branches/*branch', async (ctx) => {
    const { repository, answer } = asked(ctx, host)
    const name = String(ctx.params['branch'])
    const bare = host.repositories.bare(repository)
    const sha = (await bare.branches()).get(name)
    const [commit] = sha === undefined ? [] : await bare.commits(undefined, sha, 1)
    if (!commit) throw new Refusal(404, 'Branch not found')
    ctx.body = branchWithProtection(answer, name, commit, isProtected(host, repository, name))
  })

  router.delete('/repos/:owner/:repo/git/refs/*ref', async (ctx) => {
    const account = signedIn(ctx, host)
    const { repository } = asked(ctx, host)
    if (!mayPush(account, repository)) throw new Refusal(403, 'Must have push access to the repository.')
    const [, branch] = /^heads\/(.+)$/s.exec(String(ctx.params['ref'])) ?? []
    if (branch === undefined) throw new Refusal(422, 'Reference does not exist')
    await host.repositories.deleteBranch(repository, branch)
    ctx.status = 204
  })
}

const isProtected = ({ extension }: Host, repository: Repository, name: string): boolean =>
  extension.isProtected?.(repository, name) ?? false

/** The repository in the path, if the caller may see it. Throws Refusal 401 and 404. */
export function asked(
  ctx: Context & { params: Record<string, string> },
  host: Host,
): { repository: Repository; viewer: Account | undefined; answer: FullRepository; origin: string } {
  const viewer = tokenHolder(ctx, host)
  const repository = readable(host, viewer, ctx.params['owner'], ctx.params['repo'])
  const origin = originOf(ctx, host.url)
  return { repository, viewer, origin, answer: repositoryAnswer(host, origin, repository, viewer) }
}

/** Returns the `About` of the repository in the path. Throws Refusal 401 and 404. */
export function aboutAsked(ctx: Context & { params: Record<string, string> }, host: Host): About {
  const { repository, answer, origin } = asked(ctx, host)
  return aboutOf(host, origin, repository, answer)
}

/** Returns what is needed to write a repository's parts, such as issues, in the form of the REST API. */
export const aboutOf = (
  { store, extension }: Pick<Host, 'store' | 'extension'>,
  origin: string,
  repository: Repository,
  answer: FullRepository,
): About => ({ origin, repository, answer, state: store.current(), appAnswer: extension.appAnswer })

/** The account that makes the request, and the app to which the request's token was issued. Throws Refusal 401. */
export function actorOf(ctx: Context, host: Host): Actor {
  const caller = callerOf(ctx, host)
  if (caller.kind === 'nobody') throw new Refusal(401, 'Requires authentication')
  return { account: caller.account, viaApp: caller.appId }
}

/** The repository as the REST API shows it to `viewer`. */
export function repositoryAnswer(
  host: Host,
  origin: string,
  repository: Repository,
  viewer: Account | undefined,
): FullRepository {
  const owner = ownerOf(repository.owner)
  if (!owner) throw notFound()
  const openPulls = host.pulls.of(repository).filter((pull) => pull.closedAt === null).length
  return fullRepository(origin, repository, {
    owner,
    openPulls,
    mayPush: mayPush(viewer, repository),
  })
}

/** Creates an empty repository for `owner`, as the request's body describes it. Throws Refusal 400 and 422. */
export async function createRepository(ctx: Context, host: Host, by: Account, owner: Owner): Promise<void> {
  const body = bodyAs(ctx, NewRepository, 'Repository')
  const name = repositoryName(body.name)
  if (name === undefined) {
    const message = 'name must be 1 to 100 letters, digits, dots, dashes and underscores'
    throw invalid({ resource: 'Repository', field: 'name', code: 'custom', message })
  }
  const repository = await host.repositories.create(
    {
      owner: owner.login,
      name,
      description: body.description || null,
      isPrivate: body.private ?? false,
      source: null,
    },
    host.repositories.buildEmpty,
  )
  const origin = originOf(ctx, host.url)
  const answer = repositoryAnswer(host, origin, repository, by)
  ctx.status = 201
  ctx.set('Location', answer.url)
  ctx.body = answer
}

/** A branch in GitHub's schema `short-branch`. */
export const shortBranch = (repository: FullRepository, name: string, sha: string, isProtected = false) => ({
  name,
  commit: { sha, url: `${repository.url}/commits/${sha}` },
  protected: isProtected,
})

/** A branch in GitHub's schema `branch-with-protection`. */
const branchWithProtection = (
  repository: FullRepository,
  name: string,
  commit: Commit,
  isProtected: boolean,
) => {
  const url = `${repository.url}/branches/${encodeURIComponent(name)}`
  return {
    name,
    commit: commitAnswer(repository, commit),
    _links: { self: url, html: `${repository.html_url}/tree/${encodeURI(name)}` },
    protected: isProtected,
    protection: { enabled: isProtected },
    protection_url: `${url}/protection`,
  }
}

/** A commit in GitHub's schema `commit`. */
export function commitAnswer(repository: FullRepository, commit: Commit) {
  const url = `${repository.url}/commits/${commit.sha}`
  const { author, committer, message, tree } = commit
  return {
    sha: commit.sha,
    url,
    html_url: `${repository.html_url}/commit/${commit.sha}`,
    commit: { author, committer, message, tree: { sha: tree } },
    parents: commit.parents.map((sha) => ({ sha, url: `${repository.url}/commits/${sha}` })),
  }
}
