/** Reviews of a pull request: `/repos/{owner}/{repo}/pulls/{number}/reviews`. */
import type { Router } from '@koa/router'
import type { Host } from '../host.ts'
import { answerPage, numberIn } from './requests.ts'
import { aboutAsked } from './repositories.ts'
import { reviewAnswer } from './reviewAnswers.ts'

const reviewsPath = '/repos/:owner/:repo/pulls/:number/reviews'

export function reviewRoutes(router: Router, host: Host): void {
  router.get(reviewsPath, (ctx) => {
    const about = aboutAsked(ctx, host)
    const { number } = host.pulls.get(about.repository, numberIn(ctx, 'number'))
    const found = host.reviews.of(about.repository, number)
    answerPage(ctx, about.origin, found, (one) => reviewAnswer(about, one))
  })
}
