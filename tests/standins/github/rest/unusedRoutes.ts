/**
 * Answers of GitHub for which the product does not ask: other people, repositories of organisations, comparisons, updates of branches, and comments
 * over all issues.
 */
import type { Router } from '@koa/router'
import { z } from 'zod'
import type { Commit, DiffSize } from '../../../../services/codehost/git/bareRepository.ts'
import { signedIn, signedInPerson, tokenHolder } from '../../../../services/codehost/http/authenticate.ts'
import { originOf } from '../../../../services/codehost/http/origin.ts'
import { notFound } from '../../../../services/codehost/httpError.ts'
import { simpleUser, type FullRepository } from '../../../../services/codehost/rest/responses.ts'
import {
  commitAnswer,
  aboutAsked,
  actorOf,
  asked,
  createRepository,
} from '../../../../services/codehost/rest/repositories.ts'
import { CommentQuery, matchingItems } from '../../../../services/codehost/rest/issues.ts'
import { answerPage, numberIn } from '../../../../services/codehost/rest/requests.ts'
import { issueCommentAnswer } from '../../../../services/codehost/rest/reviewResponses.ts'
import {
  accountOf,
  organizationOf,
  organizationsOf,
  sameName,
  type Owner,
} from '../../../../services/codehost/state/accounts.ts'
import type { GitHubHost } from '../host.ts'

const UpdateBranch = z.object({ expected_head_sha: z.string().optional().catch(undefined) }).catch({})

/** The number of commits that GitHub lists in a comparison. */
const mostCommits = 250

const comments = '/repos/:owner/:repo/issues/comments'

export function otherRoutes(router: Router, host: GitHubHost): void {
  router.get('/users/:login', (ctx) => {
    tokenHolder(ctx, host)
    const login = ctx.params['login'] ?? ''
    const account = accountOf(login) ?? organizationOf(login)
    if (!account) throw notFound()
    const own = host.store.current().repositories.filter((one) => sameName(one.owner, account.login))
    ctx.body = publicUser(originOf(ctx, host.url), account, own.filter((one) => !one.isPrivate).length)
  })

  router.post('/orgs/:org/repos', async (ctx) => {
    const account = signedInPerson(ctx, host)
    const organization = organizationsOf(account).find((one) => sameName(one.login, ctx.params['org'] ?? ''))
    if (!organization) throw notFound()
    await createRepository(ctx, host, account, organization)
  })

  router.get('/repos/:owner/:repo/compare/*basehead', async (ctx) => {
    const { repository, answer } = asked(ctx, host)
    const [, baseName, headName] = /^(.+?)\.\.\.(.+)$/s.exec(String(ctx.params['basehead'])) ?? []
    const bare = host.repositories.bare(repository)
    const branches = await bare.branches()
    const base = branches.get(baseName ?? '')
    const head = branches.get(headName ?? '')
    if (base === undefined || head === undefined) throw notFound()
    const fork = await bare.mergeBase(base, head)
    if (fork === undefined) throw notFound()
    const [ahead, behind, commits, size, [baseCommit], [forkCommit]] = await Promise.all([
      bare.count(base, head),
      bare.count(head, base),
      bare.commits(base, head, mostCommits),
      bare.diffSize(base, head),
      bare.commits(undefined, base, 1),
      bare.commits(undefined, fork, 1),
    ])
    if (!baseCommit || !forkCommit) throw notFound()
    ctx.body = comparison(answer, {
      basehead: `${baseName}...${headName}`,
      ahead,
      behind,
      commits,
      size,
      base: baseCommit,
      mergeBase: forkCommit,
    })
  })

  router.get(comments, (ctx) => {
    const about = aboutAsked(ctx, host)
    const found = matchingItems(host.comments.of(about.repository), CommentQuery.parse(ctx.query))
    answerPage(ctx, about.origin, found, (one) => issueCommentAnswer(about, one))
  })

  router.delete(`${comments}/:id`, async (ctx) => {
    const by = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    await host.changes.deleteComment(repository, numberIn(ctx, 'id'), by)
    ctx.status = 204
  })

  router.put('/repos/:owner/:repo/pulls/:number/update-branch', async (ctx) => {
    const account = signedIn(ctx, host)
    const { repository, answer } = asked(ctx, host)
    const { expected_head_sha: expected } = UpdateBranch.parse(ctx.request.body ?? {})
    await host.changes.updateBranch(repository, numberIn(ctx, 'number'), account, expected)
    ctx.status = 202
    ctx.body = {
      message: 'Updating pull request branch.',
      url: `${answer.url}/pulls/${numberIn(ctx, 'number')}`,
    }
  })
}

/** The schema `public-user`: a person, an organisation or a bot, as everybody may see them. */
const publicUser = (origin: string, owner: Owner, publicRepos: number) => ({
  ...simpleUser(origin, owner),
  user_view_type: 'public',
  name: owner.name,
  email: null,
  public_repos: publicRepos,
})

/** The schema `commit-comparison`. */
export function comparison(
  repository: FullRepository,
  compared: {
    readonly basehead: string
    readonly ahead: number
    readonly behind: number
    readonly base: Commit
    readonly mergeBase: Commit
    readonly commits: readonly Commit[]
    readonly size: DiffSize
  },
) {
  const { ahead, behind } = compared
  const page = `${repository.html_url}/compare/${encodeURIComponent(compared.basehead)}`
  return {
    url: `${repository.url}/compare/${encodeURIComponent(compared.basehead)}`,
    html_url: page,
    permalink_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    base_commit: commitAnswer(repository, compared.base),
    merge_base_commit: commitAnswer(repository, compared.mergeBase),
    status: ahead > 0 ? (behind > 0 ? 'diverged' : 'ahead') : behind > 0 ? 'behind' : 'identical',
    ahead_by: ahead,
    behind_by: behind,
    total_commits: ahead,
    commits: compared.commits.map((commit) => commitAnswer(repository, commit)),
  }
}
