/** Commit statuses, and jobs of Actions with their logs. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { actionsAppId } from '../checks/records.ts'
import { combinedState, latestStatuses } from '../checks/rollup.ts'
import { signedIn } from '../../../../services/codehost/http/authenticate.ts'
import { notFound } from '../../../../services/codehost/httpError.ts'
import { requires } from '../requires.ts'
import type { GitHubHost } from '../host.ts'
import { bodyAs, answerPage, numberIn } from '../../../../services/codehost/rest/requests.ts'
import { jobAnswer, statusAnswer } from './checkAnswers.ts'
import { commitIn } from './checks.ts'
import { aboutAsked } from '../../../../services/codehost/rest/repositories.ts'

const NewStatus = z.object({
  state: z.enum(['error', 'failure', 'pending', 'success']),
  target_url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .nullish(),
  description: z.string().max(1_000).nullish(),
  context: z.string().min(1).max(255).default('default'),
})

export function statusRoutes(router: Router, host: GitHubHost): void {
  const reads = requires(host, { statuses: 'read' })
  const writes = requires(host, { statuses: 'write' })
  router.post('/repos/:owner/:repo/statuses/:sha', writes, async (ctx) => {
    const by = signedIn(ctx, host)
    const about = aboutAsked(ctx, host)
    const body = bodyAs(ctx, NewStatus, 'Status')
    const sha = await commitIn(host, about.repository, String(ctx.params['sha']))
    const status = await host.checks.setStatus(about.repository, sha, by, {
      state: body.state,
      context: body.context,
      description: body.description ?? null,
      targetUrl: body.target_url ?? null,
    })
    ctx.status = 201
    ctx.body = statusAnswer(about, status)
  })

  router.get('/repos/:owner/:repo/commits/*ref/status', reads, async (ctx) => {
    const about = aboutAsked(ctx, host)
    const sha = await commitIn(host, about.repository, String(ctx.params['ref']))
    const latest = latestStatuses(host.checks.statuses(about.repository, sha))
    answerPage(ctx, about.origin, latest, (one) => {
      const { creator: _, ...simple } = statusAnswer(about, one)
      return simple
    })
    ctx.body = {
      state: combinedState(latest),
      statuses: ctx.body,
      sha,
      total_count: latest.length,
      repository: about.answer,
      commit_url: `${about.answer.url}/commits/${sha}`,
      url: `${about.answer.url}/commits/${sha}/status`,
    }
  })

  router.get('/repos/:owner/:repo/commits/*ref/statuses', reads, async (ctx) => {
    const about = aboutAsked(ctx, host)
    const sha = await commitIn(host, about.repository, String(ctx.params['ref']))
    const all = host.checks.statuses(about.repository, sha).toReversed()
    answerPage(ctx, about.origin, all, (one) => statusAnswer(about, one))
  })
}

export function jobRoutes(router: Router, host: GitHubHost): void {
  const reads = requires(host, { actions: 'read' })
  const jobPath = '/repos/:owner/:repo/actions/jobs/:id'
  const jobIn = (ctx: Parameters<typeof aboutAsked>[0]) => {
    const about = aboutAsked(ctx, host)
    const run = host.checks.get(about.repository, numberIn(ctx, 'id'))
    if (run.appId !== actionsAppId) throw notFound()
    return { about, run }
  }

  router.get('/repos/:owner/:repo/actions/runs/:id/jobs', reads, (ctx) => {
    const about = aboutAsked(ctx, host)
    const jobs = host.checks
      .suite(about.repository, numberIn(ctx, 'id'))
      .filter(({ appId }) => appId === actionsAppId)
    if (jobs.length === 0) throw notFound()
    answerPage(ctx, about.origin, jobs, (run) => jobAnswer(about, run))
    ctx.body = { total_count: jobs.length, jobs: ctx.body }
  })

  router.get(jobPath, reads, (ctx) => {
    const { about, run } = jobIn(ctx)
    ctx.body = jobAnswer(about, run)
  })

  router.get(`${jobPath}/logs`, reads, async (ctx) => {
    const { about, run } = jobIn(ctx)
    if (!(await host.checks.logs.has(run.id))) throw notFound()
    ctx.status = 302
    ctx.redirect(`${elsewhere(about.origin)}/job-logs/${host.checks.logs.lend(run.id)}`)
  })
}

/** GitHub stores logs under another origin. On loopback, the other name of this machine is one. */
function elsewhere(origin: string): string {
  const url = new URL(origin)
  if (url.hostname === 'localhost') url.hostname = '127.0.0.1'
  else if (url.hostname === '127.0.0.1') url.hostname = 'localhost'
  return url.origin
}

/** `/job-logs/{key}`: the text of a log, for everybody who has the key. No token is needed or accepted. */
export function jobLogRoute(router: Router, host: GitHubHost): void {
  router.get('/job-logs/:key', async (ctx) => {
    const log = await host.checks.logs.read(String(ctx.params['key']))
    if (!log) throw notFound()
    ctx.type = 'text/plain; charset=utf-8'
    ctx.body = log
  })
}
