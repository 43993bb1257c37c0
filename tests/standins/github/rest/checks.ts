/** `/repos/{owner}/{repo}/check-runs`: check runs and suites, also those of a commit. */
import type { Router } from '@koa/router'
import type { Context } from 'koa'
import { z } from 'zod'
import type { Report, Reporter } from '../checks/checks.ts'
import { Annotation, conclusions, type CheckRun } from '../checks/records.ts'
import { latestRuns } from '../checks/rollup.ts'
import { notFound, Refusal } from '../../../../services/codehost/httpError.ts'
import { requires } from '../requires.ts'
import type { GitHubHost } from '../host.ts'
import type { Repository } from '../../../../services/codehost/state/stateSchema.ts'
import { bodyAs, answerPage, numberIn } from '../../../../services/codehost/rest/requests.ts'
import { annotationAnswer, checkRunAnswer, suiteAnswer } from './checkAnswers.ts'
import { aboutAsked, actorOf } from '../../../../services/codehost/rest/repositories.ts'
import type { About } from '../../../../services/codehost/rest/reviewResponses.ts'

const Time = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString())
const Text = z.string().max(65_535)

const Output = z.object({
  title: z.string().max(1_000).nullish(),
  summary: Text.nullish(),
  text: Text.nullish(),
  annotations: z
    .array(
      z
        .object({
          path: z.string(),
          start_line: z.int(),
          end_line: z.int(),
          annotation_level: z.string(),
          message: z.string(),
          title: z.string().nullish(),
          raw_details: z.string().nullish(),
        })
        .transform((one) => ({
          path: one.path,
          startLine: one.start_line,
          endLine: one.end_line,
          level: one.annotation_level,
          message: one.message,
          title: one.title ?? null,
          rawDetails: one.raw_details ?? null,
        }))
        .pipe(Annotation),
    )
    .max(50)
    .optional(),
})

const fields = {
  status: z.enum(['queued', 'in_progress', 'completed']).optional(),
  conclusion: z.enum(conclusions).optional(),
  external_id: z.string().max(1_000).optional(),
  details_url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  started_at: Time.optional(),
  completed_at: Time.optional(),
  output: Output.optional(),
}
const NewRun = z.object({
  ...fields,
  name: z.string().min(1).max(255),
  head_sha: z.string().regex(/^[0-9a-f]{40,64}$/),
})
const RunEdit = z.object({ ...fields, name: z.string().min(1).max(255).optional() })

const reportOf = ({ output, ...body }: z.infer<typeof RunEdit>): Report => ({
  name: body.name,
  status: body.status,
  conclusion: body.conclusion,
  externalId: body.external_id,
  detailsUrl: body.details_url,
  startedAt: body.started_at,
  completedAt: body.completed_at,
  title: output?.title,
  summary: output?.summary,
  text: output?.text,
  annotations: output?.annotations,
})

const RunQuery = z.object({
  filter: z.enum(['latest', 'all']).catch('latest'),
  check_name: z.string().optional().catch(undefined),
  status: z.enum(['queued', 'in_progress', 'completed']).optional().catch(undefined),
  app_id: z.coerce.number().int().optional().catch(undefined),
})

const runsPath = '/repos/:owner/:repo/check-runs'

export function checkRoutes(router: Router, host: GitHubHost): void {
  const reads = requires(host, { checks: 'read' })
  const writes = requires(host, { checks: 'write' })
  router.post(runsPath, writes, async (ctx) => {
    const by = reporterOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const body = bodyAs(ctx, NewRun, 'CheckRun')
    const headSha = await commitIn(host, about.repository, body.head_sha)
    const report = { ...reportOf(body), name: body.name, headSha }
    const run = await host.checks.report(about.repository, by, report)
    ctx.status = 201
    ctx.body = checkRunAnswer(about, run)
  })

  router.get(`${runsPath}/:id`, reads, (ctx) => {
    const about = aboutAsked(ctx, host)
    ctx.body = checkRunAnswer(about, host.checks.get(about.repository, numberIn(ctx, 'id')))
  })

  router.patch(`${runsPath}/:id`, writes, async (ctx) => {
    const by = reporterOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const report = reportOf(bodyAs(ctx, RunEdit, 'CheckRun'))
    const run = await host.checks.change(about.repository, numberIn(ctx, 'id'), by, report)
    ctx.body = checkRunAnswer(about, run)
  })

  router.get(`${runsPath}/:id/annotations`, reads, (ctx) => {
    const about = aboutAsked(ctx, host)
    const run = host.checks.get(about.repository, numberIn(ctx, 'id'))
    answerPage(ctx, about.origin, run.annotations, (one) => annotationAnswer(about, run, one))
  })

  router.get('/repos/:owner/:repo/commits/*ref/check-runs', reads, async (ctx) => {
    const about = aboutAsked(ctx, host)
    const sha = await commitIn(host, about.repository, String(ctx.params['ref']))
    answerRuns(ctx, about, host.checks.of(about.repository, sha))
  })
  suiteRoutes(router, host)
}

function suiteRoutes(router: Router, host: GitHubHost): void {
  const reads = requires(host, { checks: 'read' })
  const suitePath = '/repos/:owner/:repo/check-suites/:id'
  const runsIn = (ctx: Context & { params: Record<string, string> }, repository: Repository) => {
    const runs = host.checks.suite(repository, numberIn(ctx, 'id'))
    if (runs.length === 0) throw notFound()
    return runs
  }
  router.get(suitePath, reads, async (ctx) => {
    const about = aboutAsked(ctx, host)
    ctx.body = await shownSuite(host, about, runsIn(ctx, about.repository))
  })
  router.get(`${suitePath}/check-runs`, reads, (ctx) => {
    const about = aboutAsked(ctx, host)
    answerRuns(ctx, about, runsIn(ctx, about.repository))
  })
  router.get('/repos/:owner/:repo/commits/*ref/check-suites', reads, async (ctx) => {
    const about = aboutAsked(ctx, host)
    const sha = await commitIn(host, about.repository, String(ctx.params['ref']))
    const runs = host.checks.of(about.repository, sha)
    const suites = [...new Set(runs.map(({ suiteId }) => suiteId))]
    ctx.body = {
      total_count: suites.length,
      check_suites: await Promise.all(
        suites.map((id) =>
          shownSuite(
            host,
            about,
            runs.filter(({ suiteId }) => suiteId === id),
          ),
        ),
      ),
    }
  })
}

async function shownSuite(host: GitHubHost, about: About, runs: readonly CheckRun[]): Promise<unknown> {
  const [first] = runs
  if (!first) throw notFound()
  const [head] = await host.repositories.bare(about.repository).commits(undefined, first.headSha, 1)
  if (!head) throw notFound()
  return suiteAnswer(about, first, latestRuns(runs), head)
}

function answerRuns(ctx: Context, about: About, all: readonly CheckRun[]): void {
  const query = RunQuery.parse(ctx.query)
  const found = (query.filter === 'latest' ? latestRuns(all) : all.toReversed())
    .filter((run) => query.check_name === undefined || run.name === query.check_name)
    .filter((run) => query.status === undefined || run.status === query.status)
    .filter((run) => query.app_id === undefined || run.appId === query.app_id)
  answerPage(ctx, about.origin, found, (run) => checkRunAnswer(about, run))
  ctx.body = { total_count: found.length, check_runs: ctx.body }
}

/** The reporter of check runs, which must be an App. Throws Refusal 401 and 403. */
function reporterOf(ctx: Context, host: GitHubHost): Reporter {
  const { account, viaApp } = actorOf(ctx, host)
  if (account.type !== 'Bot' || viaApp === null)
    throw new Refusal(403, 'You must authenticate via a GitHub App.')
  return { appId: viaApp, account }
}

/** The commit that a branch or hash names. Throws Refusal 404, and 422 for a hash of no commit. */
export async function commitIn(host: GitHubHost, repository: Repository, ref: string): Promise<string> {
  const bare = host.repositories.bare(repository)
  const tip = (await bare.branches()).get(ref.replace(/^(refs\/)?heads\//, ''))
  if (tip !== undefined) return tip
  if (!/^[0-9a-f]{40,64}$/.test(ref)) throw notFound()
  const [commit] = await bare.commits(undefined, ref, 1).catch(() => [])
  if (!commit) throw new Refusal(422, `No commit found for SHA: ${ref}`)
  return commit.sha
}
