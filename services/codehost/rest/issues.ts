/** The REST API's routes `/repos/{owner}/{repo}/issues`: issues, and comments on issues and pull requests. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import type { Issue } from '../state/issueRecords.ts'
import type { Host } from '../host.ts'
import type { PullRequest } from '../state/stateSchema.ts'
import { answerPage, numberIn, bodyAs } from './requests.ts'
import { aboutAsked, actorOf } from './repositories.ts'
import { issueAnswer, issueEventAnswer, pullAsIssue } from './issueResponses.ts'
import { issueCommentAnswer, type About } from './reviewResponses.ts'
import { mostCharacters } from '../state/reviewRecords.ts'
import { notFound } from '../httpError.ts'

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
  router.get(issuesPath, (ctx) => {
    const about = aboutAsked(ctx, host)
    answerPage(ctx, about.origin, matchingIssues(about, IssueQuery.parse(ctx.query)), (one) =>
      written(about, one),
    )
  })

  router.get(`${issuesPath}/:number`, (ctx) => {
    const about = aboutAsked(ctx, host)
    const number = numberIn(ctx, 'number')
    const pull = host.pulls.of(about.repository).find((one) => one.number === number)
    ctx.body = pull ? pullAsIssue(about, pull) : issueAnswer(about, host.issues.get(about.repository, number))
  })

  router.get(`${issuesPath}/:number/events`, (ctx) => {
    const about = aboutAsked(ctx, host)
    const { number } = host.issues.get(about.repository, numberIn(ctx, 'number'))
    const events = host.issues.events(about.repository, number)
    answerPage(ctx, about.origin, events, (one) => issueEventAnswer(about, one))
  })
}

type Listed =
  | { readonly issue: Issue; readonly createdAt: string; readonly updatedAt: string }
  | { readonly pull: PullRequest; readonly createdAt: string; readonly updatedAt: string }

/** The issues that match the query. As on GitHub, they include pull requests. */
function matchingIssues({ state, repository }: About, query: z.infer<typeof IssueQuery>): readonly Listed[] {
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
  return matchingItems(all, query)
}

const written = (about: About, one: Listed): unknown =>
  'issue' in one ? issueAnswer(about, one.issue) : pullAsIssue(about, one.pull)

const Text = z.object({ body: z.string().min(1).max(mostCharacters) })

/** The query for a list of comments. */
export const CommentQuery = z.object({
  since: z.coerce.date().optional().catch(undefined),
  sort: z.enum(['created', 'updated']).catch('created'),
  direction: z.enum(['asc', 'desc']).optional().catch(undefined),
})

/** The comments or issues that match the query, in the requested order. */
export function matchingItems<Item extends { readonly createdAt: string; readonly updatedAt: string }>(
  all: readonly Item[],
  { since, sort, direction }: z.infer<typeof CommentQuery>,
): readonly Item[] {
  const key = sort === 'created' ? 'createdAt' : 'updatedAt'
  // GitHub's times have a resolution of one second, so comments from the same second as `since` are included.
  const from = since && Math.floor(since.getTime() / 1_000) * 1_000
  const found = all.filter((one) => from === undefined || Date.parse(one.updatedAt) >= from)
  const sorted = found.toSorted((one, other) => Date.parse(one[key]) - Date.parse(other[key]))
  return direction === 'desc' ? sorted.toReversed() : sorted
}

const below = '/repos/:owner/:repo/issues/:number/comments'
const alone = '/repos/:owner/:repo/issues/comments'

export function issueCommentRoutes(router: Router, host: Host): void {
  router.get(`${alone}/:id`, (ctx) => {
    const about = aboutAsked(ctx, host)
    ctx.body = issueCommentAnswer(about, host.comments.get(about.repository, numberIn(ctx, 'id')))
  })

  router.patch(`${alone}/:id`, async (ctx) => {
    const by = actorOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const { body } = bodyAs(ctx, Text, 'IssueComment')
    const comment = await host.comments.edit(about.repository, numberIn(ctx, 'id'), by, body)
    ctx.body = issueCommentAnswer(about, comment)
  })

  router.get(below, (ctx) => {
    const about = aboutAsked(ctx, host)
    const number = numberIn(ctx, 'number')
    refuseUnknown(host, about, number)
    const query = CommentQuery.parse({ since: ctx.query['since'] })
    const found = matchingItems(host.comments.of(about.repository, number), query)
    answerPage(ctx, about.origin, found, (one) => issueCommentAnswer(about, one))
  })

  router.post(below, async (ctx) => {
    const by = actorOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const { body } = bodyAs(ctx, Text, 'IssueComment')
    const comment = await host.comments.add(about.repository, numberIn(ctx, 'number'), by, body)
    ctx.status = 201
    ctx.body = issueCommentAnswer(about, comment)
  })
}

/** Throws Refusal 404 when no issue or pull request has the number. */
function refuseUnknown(host: Host, { repository }: About, number: number): void {
  const isThere = [...host.issues.of(repository), ...host.pulls.of(repository)].some(
    (one) => one.number === number,
  )
  if (!isThere) throw notFound()
}
