/** Comments on lines of a pull request: `/repos/{owner}/{repo}/pulls/comments` and what is below one pull request. */
import type { Router } from '@koa/router'
import type { Context } from 'koa'
import { z } from 'zod'
import { mostCharacters, type ReviewComment } from '../reviews/records.ts'
import { requires } from '../http/requires.ts'
import type { Host } from '../services.ts'
import type { NewComment } from '../reviews/reviews.ts'
import { bodyAs, answerPage, numberIn, targetIn } from './requests.ts'
import { aboutAsked, actorOf } from './repositories.ts'
import { reviewCommentAnswer, type About } from './reviewAnswers.ts'
import { CommentQuery, wantedComments } from './issueComments.ts'

const Side = z.enum(['LEFT', 'RIGHT'])
const Words = z.string().min(1).max(mostCharacters)
const Line = z.int().positive()

/** A comment on lines, as a review has it and as it comes alone. */
export const CommentOnLines = z
  .object({
    path: z.string().min(1).max(4_096),
    body: Words,
    line: Line,
    side: Side.nullish(),
    start_line: Line.nullish(),
    start_side: Side.nullish(),
  })
  .transform(({ path, body, line, side, start_line, start_side }): NewComment => {
    const ends = side ?? 'RIGHT'
    const startLine = start_line ?? null
    return {
      path,
      body,
      line,
      side: ends,
      startLine,
      startSide: startLine === null ? null : (start_side ?? ends),
    }
  })

const Text = z.object({ body: Words })
const Alone = z.object({ commit_id: z.string().max(64) })
const InReply = z.object({ in_reply_to: z.int().positive(), body: Words })

const below = '/repos/:owner/:repo/pulls/:number/comments'
const alone = '/repos/:owner/:repo/pulls/comments'

export function reviewCommentRoutes(router: Router, host: Host): void {
  const reads = requires(host, { pull_requests: 'read' })
  const writes = requires(host, { pull_requests: 'write' })
  router.get(alone, reads, async (ctx) => {
    const about = aboutAsked(ctx, host)
    const query = CommentQuery.parse(ctx.query)
    await answerComments(ctx, host, about, wantedComments(host.reviews.comments(about.repository), query))
  })

  router.get(`${alone}/:id`, reads, async (ctx) => {
    const about = aboutAsked(ctx, host)
    const comment = host.reviews.comment(about.repository, numberIn(ctx, 'id'))
    ctx.body = await answered(host, about, comment)
  })

  router.patch(`${alone}/:id`, writes, async (ctx) => {
    const by = actorOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const { body } = bodyAs(ctx, Text, 'PullRequestReviewComment')
    const id = numberIn(ctx, 'id')
    ctx.body = await answered(host, about, await host.reviews.editComment(about.repository, id, by, body))
  })

  router.delete(`${alone}/:id`, writes, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    await host.reviews.deleteComment(repository, numberIn(ctx, 'id'), by)
    ctx.status = 204
  })

  router.get(below, reads, async (ctx) => {
    const about = aboutAsked(ctx, host)
    const { number } = host.pulls.get(about.repository, numberIn(ctx, 'number'))
    const query = CommentQuery.parse(ctx.query)
    const found = wantedComments(host.reviews.comments(about.repository, number), query)
    await answerComments(ctx, host, about, found)
  })

  router.post(below, writes, async (ctx) => {
    ctx.body = await commentOnLines(ctx, host)
    ctx.status = 201
  })

  router.post(`${below}/:id/replies`, writes, async (ctx) => {
    const by = actorOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const { body } = bodyAs(ctx, Text, 'PullRequestReviewComment')
    const comment = await host.reviews.reply(about.repository, targetIn(ctx), by, body)
    ctx.status = 201
    ctx.body = await answered(host, about, comment)
  })
}

type RouteContext = Context & { params: Record<string, string> }

/** A comment outside of a review: GitHub makes a review around it. */
async function commentOnLines(ctx: RouteContext, host: Host): Promise<unknown> {
  const by = actorOf(ctx, host)
  const about = aboutAsked(ctx, host)
  const number = numberIn(ctx, 'number')
  const reply = InReply.safeParse(ctx.request.body)
  if (reply.success) {
    const target = { number, id: reply.data.in_reply_to }
    return answered(host, about, await host.reviews.reply(about.repository, target, by, reply.data.body))
  }
  const { commit_id: commitId } = bodyAs(ctx, Alone, 'PullRequestReviewComment')
  const comment = bodyAs(ctx, CommentOnLines, 'PullRequestReviewComment')
  const review = await host.reviews.submit(about.repository, number, by, {
    event: 'COMMENT',
    body: '',
    commitId,
    comments: [comment],
  })
  const [made] = host.reviews
    .comments(about.repository, number)
    .filter(({ reviewId }) => reviewId === review.id)
  return made && answered(host, about, made)
}

const answered = async (host: Host, about: About, comment: ReviewComment) =>
  reviewCommentAnswer(about, comment, await host.reviews.place(about.repository, comment))

/** Answers with a page of comments, each where it stands now. */
export async function answerComments(
  ctx: RouteContext,
  host: Host,
  about: About,
  comments: readonly ReviewComment[],
): Promise<void> {
  answerPage(ctx, about.origin, comments, (one) => one)
  const page = z.array(z.custom<ReviewComment>()).parse(ctx.body)
  ctx.body = await Promise.all(page.map((one) => answered(host, about, one)))
}
