/** Figures from git about a single pull request, and whether it can be merged: GitHub gives these in addition to what the code host does. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { mergeStateOf } from '../../../../services/codehost/pulls/mergeState.ts'
import { simpleUser } from '../../../../services/codehost/rest/responses.ts'
import { asked } from '../../../../services/codehost/rest/repositories.ts'
import { accountOf } from '../../../../services/codehost/state/accounts.ts'
import type { PullRequest, Repository } from '../../../../services/codehost/state/stateSchema.ts'
import type { Host } from '../../../../services/codehost/host.ts'

type Parts = Pick<Host, 'pulls' | 'comments' | 'reviews'>

const Answer = z.looseObject({ number: z.int() })

export function pullFigureRoutes(router: Router, host: Host): void {
  const pulls = '/repos/:owner/:repo/pulls'
  for (const [method, path] of [
    ['get', `${pulls}/:number`],
    ['patch', `${pulls}/:number`],
    ['post', pulls],
  ] as const)
    router.register(path, [method], async (ctx, next) => {
      await next()
      const { repository, origin } = asked(ctx, host)
      const answer = Answer.parse(ctx.body)
      const pull = host.pulls.get(repository, answer.number)
      ctx.body = { ...answer, ...(await pullFigures(host, origin, repository, pull)) }
    })
}

/** The members that the schema `pull-request` has and `pull-request-simple` has not. */
export async function pullFigures(
  { pulls, comments, reviews }: Parts,
  origin: string,
  repository: Repository,
  pull: PullRequest,
): Promise<object> {
  const by = pull.merged?.by ? accountOf(pull.merged.by) : undefined
  const figures = await pulls.figures(repository, pull)
  const mergeState = mergeStateOf(pull, figures.mergeable, pulls.standing(repository, pull))
  return {
    merged: pull.merged !== null,
    mergeable: figures.mergeable,
    mergeable_state: mergeState.toLowerCase(),
    merged_by: by ? simpleUser(origin, by) : null,
    comments: comments.of(repository, pull.number).length,
    review_comments: reviews.comments(repository, pull.number).length,
    commits: figures.commits,
    additions: figures.additions,
    deletions: figures.deletions,
    changed_files: figures.changedFiles,
  }
}
