/** Issues: `/repos/{owner}/{repo}/issues`, their labels and reactions. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { requires } from '../http/requires.ts'
import { mostLabels, type Issue } from '../issues/records.ts'
import { mostCharacters } from '../reviews/records.ts'
import type { Host } from '../services.ts'
import type { PullRequest } from '../state.ts'
import { bodyAs, answerPage, numberIn } from './requests.ts'
import { aboutAsked, actorOf } from './repositories.ts'
import { issueAnswer, issueEventAnswer, labelsOf, pullAsIssue } from './issueAnswers.ts'
import { labelAnswer } from './answers.ts'
import { wantedComments } from './issueComments.ts'
import type { About } from './reviewAnswers.ts'

const LabelName = z.string().trim().min(1).max(50)
/** As names, or as objects with a name. */
const LabelNames = z
  .array(z.union([LabelName, z.object({ name: LabelName }).transform(({ name }) => name)]))
  .max(mostLabels)
const Title = z.union([z.string().min(1).max(256), z.int().transform(String)])
const Body = z.string().max(mostCharacters).nullish()

const NewIssue = z.object({ title: Title, body: Body, labels: LabelNames.nullish() })
const IssueEdit = z.object({
  title: Title.optional(),
  body: Body,
  state: z.enum(['open', 'closed']).optional(),
  state_reason: z.enum(['completed', 'not_planned', 'reopened']).nullish(),
  labels: LabelNames.optional(),
})
const NewLabels = z.union([z.object({ labels: LabelNames }), LabelNames.transform((labels) => ({ labels }))])
const NewLabel = z.object({
  name: LabelName,
  color: z
    .string()
    .regex(/^[0-9a-f]{6}$/i)
    .default('ededed'),
  description: z.string().max(100).nullish(),
})

const IssueQuery = z.object({
  state: z.enum(['open', 'closed', 'all']).catch('open'),
  labels: z.string().optional().catch(undefined),
  creator: z.string().optional().catch(undefined),
  since: z.coerce.date().optional().catch(undefined),
  sort: z.enum(['created', 'updated']).catch('created'),
  direction: z.enum(['asc', 'desc']).catch('desc'),
})

const issuesPath = '/repos/:owner/:repo/issues'

export function issueRoutes(router: Router, host: Host): void {
  const reads = requires(host, { issues: 'read' })
  const writes = requires(host, { issues: 'write' })

  router.get(issuesPath, reads, (ctx) => {
    const about = aboutAsked(ctx, host)
    answerPage(ctx, about.origin, found(about, IssueQuery.parse(ctx.query)), (one) => written(about, one))
  })

  router.post(issuesPath, writes, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const { title, body, labels } = bodyAs(ctx, NewIssue, 'Issue')
    const issue = await host.issues.open(repository, by, { title, body: body ?? null, labels: labels ?? [] })
    ctx.status = 201
    ctx.body = issueAnswer(aboutAsked(ctx, host), issue)
  })

  router.get(
    `${issuesPath}/:number`,
    requires(host, { issues: 'read' }, { pull_requests: 'read' }),
    (ctx) => {
      const about = aboutAsked(ctx, host)
      const number = numberIn(ctx, 'number')
      const pull = host.pulls.of(about.repository).find((one) => one.number === number)
      ctx.body = pull
        ? pullAsIssue(about, pull)
        : issueAnswer(about, host.issues.get(about.repository, number))
    },
  )

  router.patch(`${issuesPath}/:number`, writes, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const { state_reason: reason, ...edit } = bodyAs(ctx, IssueEdit, 'Issue')
    const closed = reason === 'completed' || reason === 'not_planned' ? reason : undefined
    const issue = await host.issues.edit(repository, numberIn(ctx, 'number'), by, { ...edit, reason: closed })
    ctx.body = issueAnswer(aboutAsked(ctx, host), issue)
  })

  router.get(`${issuesPath}/:number/events`, reads, (ctx) => {
    const about = aboutAsked(ctx, host)
    const { number } = host.issues.get(about.repository, numberIn(ctx, 'number'))
    const events = host.issues.events(about.repository, number)
    answerPage(ctx, about.origin, events, (one) => issueEventAnswer(about, one))
  })
  labelRoutes(router, host)
}

function labelRoutes(router: Router, host: Host): void {
  const reads = requires(host, { issues: 'read' }, { pull_requests: 'read' })
  const writes = requires(host, { issues: 'write' }, { pull_requests: 'write' })

  router.get('/repos/:owner/:repo/labels', reads, (ctx) => {
    const about = aboutAsked(ctx, host)
    answerPage(ctx, about.origin, host.issues.labels(about.repository), (one) =>
      labelAnswer(about.answer, one),
    )
  })

  router.post('/repos/:owner/:repo/labels', writes, async (ctx) => {
    const by = actorOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const { name, color, description } = bodyAs(ctx, NewLabel, 'Label')
    const label = { name, color: color.toLowerCase(), description: description ?? null }
    ctx.body = labelAnswer(about.answer, await host.issues.createLabel(about.repository, by, label))
    ctx.status = 201
  })

  router.get(`${issuesPath}/:number/labels`, reads, (ctx) => {
    const about = aboutAsked(ctx, host)
    const labels = host.issues.labelsOn(about.repository, numberIn(ctx, 'number'))
    answerPage(ctx, about.origin, labelsOf(about, labels), (one) => one)
  })

  router.post(`${issuesPath}/:number/labels`, writes, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const read = NewLabels.safeParse(ctx.request.body)
    const { labels } = read.success ? read.data : bodyAs(ctx, z.object({ labels: LabelNames }), 'Label')
    const now = await host.issues.addLabels(repository, numberIn(ctx, 'number'), by, labels)
    ctx.body = labelsOf(aboutAsked(ctx, host), now)
  })

  router.delete(`${issuesPath}/:number/labels/:name`, writes, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const name = String(ctx.params['name'])
    const now = await host.issues.removeLabel(repository, numberIn(ctx, 'number'), by, name)
    ctx.body = labelsOf(aboutAsked(ctx, host), now)
  })
}

type Listed =
  | { readonly issue: Issue; readonly createdAt: string; readonly updatedAt: string }
  | { readonly pull: PullRequest; readonly createdAt: string; readonly updatedAt: string }

/** Issues, and pull requests among them as on GitHub. */
function found({ state, repository }: About, query: z.infer<typeof IssueQuery>): readonly Listed[] {
  const wanted = query.labels?.split(',').map((name) => name.trim().toLowerCase())
  const isWanted = (one: Issue | PullRequest, isOpen: boolean) => {
    const names = one.labels.map((name) => name.toLowerCase())
    return (
      one.repositoryId === repository.id &&
      (query.state === 'all' || (query.state === 'open') === isOpen) &&
      (wanted?.every((name) => names.includes(name)) ?? true) &&
      (query.creator === undefined || one.author === query.creator.toLowerCase())
    )
  }
  const issues = state.issues.filter((one) => isWanted(one, one.closed === null))
  const pulls = state.pullRequests.filter((one) => isWanted(one, one.closedAt === null))
  const times = ({ createdAt, updatedAt }: { createdAt: string; updatedAt: string }) => ({
    createdAt,
    updatedAt,
  })
  const all: readonly Listed[] = [
    ...issues.map((issue) => ({ issue, ...times(issue) })),
    ...pulls.map((pull) => ({ pull, ...times(pull) })),
  ]
  return wantedComments(all, query)
}

const written = (about: About, one: Listed): unknown =>
  'issue' in one ? issueAnswer(about, one.issue) : pullAsIssue(about, one.pull)
