/** Opening and changing issues through the API, and their labels. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { labelAnswer } from '../../../../services/codehost/rest/responses.ts'
import { issueAnswer, labelsOf } from '../../../../services/codehost/rest/issueResponses.ts'
import { aboutAsked, actorOf } from '../../../../services/codehost/rest/repositories.ts'
import { answerPage, bodyAs, numberIn } from '../../../../services/codehost/rest/requests.ts'
import { mostLabels } from '../../../../services/codehost/state/issueRecords.ts'
import { mostCharacters } from '../../../../services/codehost/state/reviewRecords.ts'
import type { GitHubHost } from '../host.ts'

const LabelName = z.string().trim().min(1).max(50)
/** Labels as names, or as objects with a name. */
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

const issuesPath = '/repos/:owner/:repo/issues'

export function issueRoutes(router: Router, host: GitHubHost): void {
  router.post(issuesPath, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const { title, body, labels } = bodyAs(ctx, NewIssue, 'Issue')
    const issue = await host.issues.open(repository, by, { title, body: body ?? null, labels: labels ?? [] })
    ctx.status = 201
    ctx.body = issueAnswer(aboutAsked(ctx, host), issue)
  })

  router.patch(`${issuesPath}/:number`, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const { state_reason: reason, ...edit } = bodyAs(ctx, IssueEdit, 'Issue')
    const closed = reason === 'completed' || reason === 'not_planned' ? reason : undefined
    const issue = await host.issues.edit(repository, numberIn(ctx, 'number'), by, { ...edit, reason: closed })
    ctx.body = issueAnswer(aboutAsked(ctx, host), issue)
  })
  labelRoutes(router, host)
}

function labelRoutes(router: Router, host: GitHubHost): void {
  router.get('/repos/:owner/:repo/labels', (ctx) => {
    const about = aboutAsked(ctx, host)
    answerPage(ctx, about.origin, host.issues.labels(about.repository), (one) =>
      labelAnswer(about.answer, one),
    )
  })

  router.post('/repos/:owner/:repo/labels', async (ctx) => {
    const by = actorOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const { name, color, description } = bodyAs(ctx, NewLabel, 'Label')
    const label = { name, color: color.toLowerCase(), description: description ?? null }
    ctx.body = labelAnswer(about.answer, await host.changes.createLabel(about.repository, by, label))
    ctx.status = 201
  })

  router.get(`${issuesPath}/:number/labels`, (ctx) => {
    const about = aboutAsked(ctx, host)
    const labels = host.issues.labelsOn(about.repository, numberIn(ctx, 'number'))
    answerPage(ctx, about.origin, labelsOf(about, labels), (one) => one)
  })

  router.post(`${issuesPath}/:number/labels`, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const read = NewLabels.safeParse(ctx.request.body)
    const { labels } = read.success ? read.data : bodyAs(ctx, z.object({ labels: LabelNames }), 'Label')
    const now = await host.issues.addLabels(repository, numberIn(ctx, 'number'), by, labels)
    ctx.body = labelsOf(aboutAsked(ctx, host), now)
  })

  router.delete(`${issuesPath}/:number/labels/:name`, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const name = String(ctx.params['name'])
    const now = await host.issues.removeLabel(repository, numberIn(ctx, 'number'), by, name)
    ctx.body = labelsOf(aboutAsked(ctx, host), now)
  })
}
