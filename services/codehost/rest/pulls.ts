/** The REST API's routes `/repos/{owner}/{repo}/pulls`: pull requests. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import type { Host } from '../host.ts'
import { signedIn } from '../http/authenticate.ts'
import { Refusal } from '../httpError.ts'
import type { PullRequest, Repository } from '../state/stateSchema.ts'
import { simplePullRequest } from './responses.ts'
import type { About } from './reviewResponses.ts'
import { aboutPull } from '../state/actors.ts'
import { answerPage, bodyAs, numberIn } from './requests.ts'
import { asked } from './repositories.ts'

const NewPull = z.object({
  title: z.string().min(1).max(1_000),
  head: z.string().min(1),
  base: z.string().min(1),
  body: z.string().max(262_144).nullish(),
  draft: z.boolean().nullish(),
})

const PullEdit = z.object({
  title: z.string().min(1).max(1_000).optional(),
  body: z.string().max(262_144).nullable().optional(),
  state: z.enum(['open', 'closed']).optional(),
  base: z.string().min(1).optional(),
})

const Merge = z.object({
  commit_title: z.string().max(1_000).optional(),
  commit_message: z.string().max(262_144).optional(),
  sha: z.string().optional(),
  merge_method: z.enum(['merge', 'squash', 'rebase']).default('merge'),
})

const PullQuery = z.object({
  state: z.enum(['open', 'closed', 'all']).catch('open'),
  head: z.string().optional().catch(undefined),
  base: z.string().optional().catch(undefined),
})

export function pullRoutes(router: Router, host: Host): void {
  router.get('/repos/:owner/:repo/pulls', (ctx) => {
    const { repository, answer, origin } = asked(ctx, host)
    const query = PullQuery.parse(ctx.query)
    const found = host.pulls
      .of(repository)
      .filter((pull) => query.state === 'all' || (query.state === 'open') === (pull.closedAt === null))
      .filter((pull) => query.base === undefined || pull.base === query.base)
      .filter((pull) => query.head === undefined || isHead(repository, pull, query.head))
      .sort((one, other) => other.number - one.number)
    answerPage(ctx, origin, found, (pull) => pullAnswer(host, { origin, repository, answer }, pull))
  })

  router.post('/repos/:owner/:repo/pulls', async (ctx) => {
    const account = signedIn(ctx, host)
    const { repository, answer, origin } = asked(ctx, host)
    const body = bodyAs(ctx, NewPull, 'PullRequest')
    const pull = await host.pulls.open(repository, account, {
      ...body,
      body: body.body ?? null,
      draft: body.draft ?? false,
    })
    ctx.status = 201
    ctx.body = pullAnswer(host, { origin, repository, answer }, pull)
  })

  router.get('/repos/:owner/:repo/pulls/:number', (ctx) => {
    const { repository, answer, origin } = asked(ctx, host)
    ctx.body = pullAnswer(
      host,
      { origin, repository, answer },
      host.pulls.get(repository, numberIn(ctx, 'number')),
    )
  })

  router.patch('/repos/:owner/:repo/pulls/:number', async (ctx) => {
    const account = signedIn(ctx, host)
    const { repository, answer, origin } = asked(ctx, host)
    const edit = bodyAs(ctx, PullEdit, 'PullRequest')
    const pull = await host.pulls.edit(repository, numberIn(ctx, 'number'), account, edit)
    ctx.body = pullAnswer(host, { origin, repository, answer }, pull)
  })

  router.put('/repos/:owner/:repo/pulls/:number/merge', async (ctx) => {
    const account = signedIn(ctx, host)
    const { repository } = asked(ctx, host)
    const body = bodyAs(ctx, Merge, 'PullRequest')
    if (body.merge_method === 'rebase') {
      throw new Refusal(405, 'Rebase merges are not allowed on this repository.')
    }
    const sha = await host.pulls.merge(repository, numberIn(ctx, 'number'), account, {
      method: body.merge_method,
      expectedHead: body.sha,
      title: body.commit_title,
      message: body.commit_message,
    })
    ctx.body = { sha, merged: true, message: 'Pull Request successfully merged' }
  })
}

function isHead(repository: Repository, pull: PullRequest, wanted: string): boolean {
  return wanted.toLowerCase().startsWith(`${repository.owner.toLowerCase()}:`)
    ? wanted.slice(repository.owner.length + 1) === pull.head
    : false
}

const pullAnswer = (
  { store }: Pick<Host, 'store'>,
  { origin, repository, answer }: Pick<About, 'origin' | 'repository' | 'answer'>,
  pull: PullRequest,
) => simplePullRequest(origin, answer, pull, aboutPull(store.current(), repository, pull))
