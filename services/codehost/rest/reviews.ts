/** Reviews of a pull request: `/repos/{owner}/{repo}/pulls/{number}/reviews`. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { mostCharacters } from '../reviews/records.ts'
import { requires } from '../http/requires.ts'
import type { Host } from '../services.ts'
import { bodyAs, answerPage, numberIn, targetIn } from './requests.ts'
import { aboutAsked, actorOf } from './repositories.ts'
import { answerComments, CommentOnLines } from './reviewComments.ts'
import { reviewAnswer } from './reviewAnswers.ts'

const Text = z.string().max(mostCharacters)

const NewReview = z.object({
  commit_id: z.string().max(64).nullish(),
  body: Text.nullish(),
  // A review without an event is a draft that nobody else sees; there are none here.
  event: z.enum(['APPROVE', 'REQUEST_CHANGES', 'COMMENT']),
  comments: z.array(CommentOnLines).max(200).nullish(),
})
const ReviewEdit = z.object({ body: Text })
const Dismissal = z.object({ message: Text, event: z.literal('DISMISS').optional() })

const reviewsPath = '/repos/:owner/:repo/pulls/:number/reviews'

export function reviewRoutes(router: Router, host: Host): void {
  const reads = requires(host, { pull_requests: 'read' })
  const writes = requires(host, { pull_requests: 'write' })
  router.get(reviewsPath, reads, (ctx) => {
    const about = aboutAsked(ctx, host)
    const { number } = host.pulls.get(about.repository, numberIn(ctx, 'number'))
    const found = host.reviews.of(about.repository, number)
    answerPage(ctx, about.origin, found, (one) => reviewAnswer(about, one))
  })

  router.post(reviewsPath, writes, async (ctx) => {
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

  router.get(`${reviewsPath}/:id`, reads, (ctx) => {
    const about = aboutAsked(ctx, host)
    const { number, id } = targetIn(ctx)
    ctx.body = reviewAnswer(about, host.reviews.get(about.repository, number, id))
  })

  router.put(`${reviewsPath}/:id`, writes, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const { body } = bodyAs(ctx, ReviewEdit, 'PullRequestReview')
    const review = await host.reviews.edit(repository, targetIn(ctx), by, body)
    ctx.body = reviewAnswer(aboutAsked(ctx, host), review)
  })

  router.put(`${reviewsPath}/:id/dismissals`, writes, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const { message } = bodyAs(ctx, Dismissal, 'PullRequestReview')
    const review = await host.reviews.dismiss(repository, targetIn(ctx), by, message)
    ctx.body = reviewAnswer(aboutAsked(ctx, host), review)
  })

  router.get(`${reviewsPath}/:id/comments`, reads, async (ctx) => {
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
