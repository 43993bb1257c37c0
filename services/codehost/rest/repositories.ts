/** `/repos/{owner}/{repo}`: what is in a repository. */
import type { Router } from '@koa/router'
import type { Context } from 'koa'
import { z } from 'zod'
import { mayPush, ownerOf, type Account, type Owner } from '../accounts.ts'
import type { Actor } from '../actors.ts'
import type { Host } from '../services.ts'
import { originOf } from '../http/baseUrl.ts'
import { callerOf, readable, signedIn, tokenHolder } from '../http/authenticate.ts'
import { requires } from '../http/requires.ts'
import { repositoryName } from '../repositories.ts'
import { invalid, notFound, Refusal } from '../httpError.ts'
import type { Repository } from '../state.ts'
import { fullRepository, type FullRepository } from './answers.ts'
import { branchWithProtection, comparison, shortBranch } from './commitAnswers.ts'
import type { About } from './reviewAnswers.ts'
import { bodyAs, answerPage } from './requests.ts'

const NewRepository = z.object({
  name: z.string().min(1),
  description: z.string().max(10_000).nullish(),
  private: z.boolean().nullish(),
})

/** As many commits as GitHub lists in a comparison. */
const mostCommits = 250

export function repositoryRoutes(router: Router, host: Host): void {
  router.get('/repos/:owner/:repo', requires(host, { metadata: 'read' }), (ctx) => {
    const { answer } = asked(ctx, host)
    ctx.body = answer
  })

  router.get('/repos/:owner/:repo/branches', requires(host, { contents: 'read' }), async (ctx) => {
    const { repository, answer, origin } = asked(ctx, host)
    const branches = await host.repositories.bare(repository).branches()
    answerPage(ctx, origin, [...branches], ([name, sha]) =>
      shortBranch(answer, name, sha, isProtected(repository, name)),
    )
  })

  router.get('/repos/:owner/:repo/branches/*branch', requires(host, { contents: 'read' }), async (ctx) => {
    const { repository, answer } = asked(ctx, host)
    const name = String(ctx.params['branch'])
    const bare = host.repositories.bare(repository)
    const sha = (await bare.branches()).get(name)
    const [commit] = sha === undefined ? [] : await bare.commits(undefined, sha, 1)
    if (!commit) throw new Refusal(404, 'Branch not found')
    ctx.body = branchWithProtection(answer, name, commit, isProtected(repository, name))
  })

  router.delete('/repos/:owner/:repo/git/refs/*ref', requires(host, { contents: 'write' }), async (ctx) => {
    const account = signedIn(ctx, host)
    const { repository } = asked(ctx, host)
    if (!mayPush(account, repository)) throw new Refusal(403, 'Must have push access to the repository.')
    const [, branch] = /^heads\/(.+)$/s.exec(String(ctx.params['ref'])) ?? []
    if (branch === undefined) throw new Refusal(422, 'Reference does not exist')
    await host.repositories.deleteBranch(repository, branch)
    ctx.status = 204
  })

  router.get('/repos/:owner/:repo/compare/*basehead', requires(host, { contents: 'read' }), async (ctx) => {
    const { repository, answer } = asked(ctx, host)
    const [, baseName, headName] = /^(.+?)\.\.\.(.+)$/s.exec(String(ctx.params['basehead'])) ?? []
    const bare = host.repositories.bare(repository)
    const branches = await bare.branches()
    const base = branches.get(baseName ?? '')
    const head = branches.get(headName ?? '')
    if (base === undefined || head === undefined) throw notFound()
    const fork = await bare.mergeBase(base, head)
    if (fork === undefined) throw notFound()
    const [ahead, behind, commits, size, [baseCommit], [forkCommit]] = await Promise.all([
      bare.count(base, head),
      bare.count(head, base),
      bare.commits(base, head, mostCommits),
      bare.diffSize(base, head),
      bare.commits(undefined, base, 1),
      bare.commits(undefined, fork, 1),
    ])
    if (!baseCommit || !forkCommit) throw notFound()
    ctx.body = comparison(answer, {
      basehead: `${baseName}...${headName}`,
      ahead,
      behind,
      commits,
      size,
      base: baseCommit,
      mergeBase: forkCommit,
    })
  })
}

const isProtected = ({ protections }: Repository, name: string): boolean =>
  protections.some(({ branch }) => branch === name)

/** The repository that the address names, as the one who asks may see it. Throws Refusal 401 and 404. */
export function asked(
  ctx: Context & { params: Record<string, string> },
  host: Host,
): { repository: Repository; viewer: Account | undefined; answer: FullRepository; origin: string } {
  const viewer = tokenHolder(ctx, host)
  const repository = readable(host, viewer, ctx.params['owner'], ctx.params['repo'])
  const origin = originOf(ctx, host.url)
  return { repository, viewer, origin, answer: repositoryAnswer(host, origin, repository, viewer) }
}

/** The same, with what answers about the repository are made from. Throws Refusal 401 and 404. */
export function aboutAsked(ctx: Context & { params: Record<string, string> }, host: Host): About {
  const { repository, answer, origin } = asked(ctx, host)
  return { origin, repository, answer, state: host.store.current() }
}

/** Who does something by the API, and the App whose token it is done with. Throws Refusal 401. */
export function actorOf(ctx: Context, host: Host): Actor {
  const caller = callerOf(ctx, host)
  if (caller.kind === 'nobody') throw new Refusal(401, 'Requires authentication')
  return { account: caller.account, viaApp: caller.app.id }
}

/** A repository as the REST API tells it to `viewer`. */
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

/** Makes an empty repository under `owner` from the request's body. */
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
