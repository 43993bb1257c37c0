/** Comments on lines: writing them outside of a review, changing, deleting, and reading them over all pull requests. */
import type { Router } from '@koa/router'
import type { Context } from 'koa'
import { z } from 'zod'
import { CommentQuery, matchingItems } from '../../../../services/codehost/rest/issues.ts'
import { aboutAsked, actorOf } from '../../../../services/codehost/rest/repositories.ts'
import { bodyAs, numberIn } from '../../../../services/codehost/rest/requests.ts'
import { answerComments, answered } from '../../../../services/codehost/rest/reviews.ts'
import type { NewComment } from '../../../../services/codehost/reviews/reviews.ts'
import { mostCharacters } from '../../../../services/codehost/state/reviewRecords.ts'
import type { GitHubHost } from '../host.ts'

const Side = z.enum(['LEFT', 'RIGHT'])
const Words = z.string().min(1).max(mostCharacters)
const Line = z.int().positive()

/** A comment on lines, in the form for a review and for a comment on its own. */
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

export function reviewCommentRoutes(router: Router, host: GitHubHost): void {
  router.get(alone, async (ctx) => {
    const about = aboutAsked(ctx, host)
    const query = CommentQuery.parse(ctx.query)
    await answerComments(ctx, host, about, matchingItems(host.reviews.comments(about.repository), query))
  })

  router.get(`${alone}/:id`, async (ctx) => {
    const about = aboutAsked(ctx, host)
    const comment = host.reviews.comment(about.repository, numberIn(ctx, 'id'))
    ctx.body = await answered(host, about, comment)
  })

  router.patch(`${alone}/:id`, async (ctx) => {
    const by = actorOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const { body } = bodyAs(ctx, Text, 'PullRequestReviewComment')
    const id = numberIn(ctx, 'id')
    ctx.body = await answered(
      host,
      about,
      await host.changes.editReviewComment(about.repository, id, by, body),
    )
  })

  router.delete(`${alone}/:id`, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    await host.changes.deleteReviewComment(repository, numberIn(ctx, 'id'), by)
    ctx.status = 204
  })

  router.post(below, async (ctx) => {
    ctx.body = await commentOnLines(ctx, host)
    ctx.status = 201
  })
}

type RouteContext = Context & { params: Record<string, string> }

/** Writes a comment outside of a review, for which GitHub creates a review. */
async function commentOnLines(ctx: RouteContext, host: GitHubHost): Promise<unknown> {
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
