/** The REST API's routes for the reviews and line comments of pull requests. */
import type { Router } from '@koa/router'
import type { Context } from 'koa'
import { z } from 'zod'
import { mostCharacters, type ReviewComment } from '../state/reviewRecords.ts'
import type { Host } from '../host.ts'
import { bodyAs, answerPage, numberIn, targetIn } from './requests.ts'
import { aboutAsked, actorOf } from './repositories.ts'
import { reviewCommentAnswer, reviewAnswer, type About } from './reviewResponses.ts'
import { CommentQuery, matchingItems } from './issues.ts'

const reviewsPath = '/repos/:owner/:repo/pulls/:number/reviews'

export function reviewRoutes(router: Router, host: Host): void {
  router.get(reviewsPath, (ctx) => {
    const about = aboutAsked(ctx, host)
    const { number } = host.pulls.get(about.repository, numberIn(ctx, 'number'))
    const found = host.reviews.of(about.repository, number)
    answerPage(ctx, about.origin, found, (one) => reviewAnswer(about, one))
  })
}

const Text = z.object({ body: z.string().min(1).max(mostCharacters) })

const below = '/repos/:owner/:repo/pulls/:number/comments'

export function reviewCommentRoutes(router: Router, host: Host): void {
  router.get(below, async (ctx) => {
    const about = aboutAsked(ctx, host)
    const { number } = host.pulls.get(about.repository, numberIn(ctx, 'number'))
    const query = CommentQuery.parse(ctx.query)
    const found = matchingItems(host.reviews.comments(about.repository, number), query)
    await answerComments(ctx, host, about, found)
  })

  router.post(`${below}/:id/replies`, async (ctx) => {
    const by = actorOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const { body } = bodyAs(ctx, Text, 'PullRequestReviewComment')
    const comment = await host.reviews.reply(about.repository, targetIn(ctx), by, body)
    ctx.status = 201
    ctx.body = await answered(host, about, comment)
  })
}

type RouteContext = Context & { params: Record<string, string> }

/** A line comment in the form of the REST API, with its current line. */
export const answered = async (host: Host, about: About, comment: ReviewComment) =>
  reviewCommentAnswer(about, comment, await host.reviews.place(about.repository, comment))

/** Answers with a page of line comments, each with its current line. */
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
