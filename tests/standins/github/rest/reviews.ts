/** Writing, changing and reading single reviews. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { aboutAsked, actorOf } from '../../../../services/codehost/rest/repositories.ts'
import { bodyAs, numberIn, targetIn } from '../../../../services/codehost/rest/requests.ts'
import { reviewAnswer } from '../../../../services/codehost/rest/reviewResponses.ts'
import { answerComments } from '../../../../services/codehost/rest/reviews.ts'
import { mostCharacters } from '../../../../services/codehost/state/reviewRecords.ts'
import type { GitHubHost } from '../host.ts'
import { CommentOnLines } from './reviewComments.ts'

const Text = z.string().max(mostCharacters)

const NewReview = z.object({
  commit_id: z.string().max(64).nullish(),
  body: Text.nullish(),
  // A review without an event would be a draft that only its author sees, which this stand-in does not have.
  event: z.enum(['APPROVE', 'REQUEST_CHANGES', 'COMMENT']),
  comments: z.array(CommentOnLines).max(200).nullish(),
})
const ReviewEdit = z.object({ body: Text })
const Dismissal = z.object({ message: Text, event: z.literal('DISMISS').optional() })

const reviewsPath = '/repos/:owner/:repo/pulls/:number/reviews'

export function reviewRoutes(router: Router, host: GitHubHost): void {
  router.post(reviewsPath, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const { body, commit_id: commitId, comments, event } = bodyAs(ctx, NewReview, 'PullRequestReview')
    const review = await host.reviews.submit(repository, numberIn(ctx, 'number'), by, {
      event,
      body: body ?? '',
      commitId: commitId ?? undefined,
      comments: comments ?? [],
    })
    ctx.body = reviewAnswer(aboutAsked(ctx, host), review)
  })

  router.get(`${reviewsPath}/:id`, (ctx) => {
    const about = aboutAsked(ctx, host)
    const { number, id } = targetIn(ctx)
    ctx.body = reviewAnswer(about, host.reviews.get(about.repository, number, id))
  })

  router.put(`${reviewsPath}/:id`, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const { body } = bodyAs(ctx, ReviewEdit, 'PullRequestReview')
    const review = await host.changes.editReview(repository, targetIn(ctx), by, body)
    ctx.body = reviewAnswer(aboutAsked(ctx, host), review)
  })

  router.put(`${reviewsPath}/:id/dismissals`, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const { message } = bodyAs(ctx, Dismissal, 'PullRequestReview')
    const review = await host.changes.dismissReview(repository, targetIn(ctx), by, message)
    ctx.body = reviewAnswer(aboutAsked(ctx, host), review)
  })

  router.get(`${reviewsPath}/:id/comments`, async (ctx) => {
    const about = aboutAsked(ctx, host)
    const { number, id } = targetIn(ctx)
    const review = host.reviews.get(about.repository, number, id)
    const all = host.reviews.comments(about.repository, number)
    await answerComments(
      ctx,
      host,
      about,
      all.filter(({ reviewId }) => reviewId === review.id),
    )
  })
}
