/** Comments below pull requests and issues: `/repos/{owner}/{repo}/issues/comments` and what is below one number. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { mostCharacters } from '../state/reviewRecords.ts'
import { notFound } from '../httpError.ts'
import type { Host } from '../host.ts'
import { bodyAs, answerPage, numberIn } from './requests.ts'
import { aboutAsked, actorOf } from './repositories.ts'
import { issueCommentAnswer, type About } from './reviewAnswers.ts'

const Text = z.object({ body: z.string().min(1).max(mostCharacters) })

/** How lists of comments are asked for. */
export const CommentQuery = z.object({
  since: z.coerce.date().optional().catch(undefined),
  sort: z.enum(['created', 'updated']).catch('created'),
  direction: z.enum(['asc', 'desc']).optional().catch(undefined),
})

/** The comments that a query asks for, in its order. */
export function wantedComments<Item extends { readonly createdAt: string; readonly updatedAt: string }>(
  all: readonly Item[],
  { since, sort, direction }: z.infer<typeof CommentQuery>,
): readonly Item[] {
  const key = sort === 'created' ? 'createdAt' : 'updatedAt'
  // GitHub's times have no fractions: what changed within the second of `since` is told too.
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
    const found = wantedComments(host.comments.of(about.repository, number), query)
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

/** Throws Refusal 404 for a number that neither an issue nor a pull request has. */
function refuseUnknown(host: Host, { repository }: About, number: number): void {
  const isThere = [...host.issues.of(repository), ...host.pulls.of(repository)].some(
    (one) => one.number === number,
  )
  if (!isThere) throw notFound()
}
