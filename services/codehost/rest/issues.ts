/** Issues: `/repos/{owner}/{repo}/issues`, as they are read. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import type { Issue } from '../state/issueRecords.ts'
import type { Host } from '../host.ts'
import type { PullRequest } from '../state/state.ts'
import { answerPage, numberIn } from './requests.ts'
import { aboutAsked } from './repositories.ts'
import { issueAnswer, issueEventAnswer, pullAsIssue } from './issueAnswers.ts'
import { wantedComments } from './issueComments.ts'
import type { About } from './reviewAnswers.ts'

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
    answerPage(ctx, about.origin, found(about, IssueQuery.parse(ctx.query)), (one) => written(about, one))
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

/** Issues, and pull requests among them as on GitHub. */
function found({ state, repository }: About, query: z.infer<typeof IssueQuery>): readonly Listed[] {
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
  return wantedComments(all, query)
}

const written = (about: About, one: Listed): unknown =>
  'issue' in one ? issueAnswer(about, one.issue) : pullAsIssue(about, one.pull)
