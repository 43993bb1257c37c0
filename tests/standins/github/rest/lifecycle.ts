/** `PATCH` and `DELETE /repos/{owner}/{repo}`, transfers, and the protection of branches. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { requires } from '../requires.ts'
import { notFound, Refusal } from '../../../../services/codehost/httpError.ts'
import type { GitHubHost } from '../host.ts'
import type { Repository } from '../../../../services/codehost/state/stateSchema.ts'
import type { BranchProtection } from '../state.ts'
import { bodyAs, answerPage } from '../../../../services/codehost/rest/requests.ts'
import { aboutAsked, actorOf } from '../../../../services/codehost/rest/repositories.ts'
import type { About } from '../../../../services/codehost/rest/reviewResponses.ts'

const Edit = z.object({
  name: z.string().min(1).optional(),
  description: z.string().max(10_000).nullish(),
  private: z.boolean().optional(),
  visibility: z.enum(['public', 'private']).optional(),
  archived: z.boolean().optional(),
  default_branch: z.string().min(1).optional(),
})
const Transfer = z.object({ new_owner: z.string().min(1) })
const Protection = z.object({
  required_pull_request_reviews: z
    .object({ required_approving_review_count: z.int().min(0).max(6).default(1) })
    .nullish(),
  required_signatures: z.boolean().nullish(),
  allow_force_pushes: z.boolean().nullish(),
})

export function lifecycleRoutes(router: Router, host: GitHubHost): void {
  const administers = requires(host, { administration: 'write' })

  router.patch('/repos/:owner/:repo', administers, async (ctx) => {
    const { account } = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const body = bodyAs(ctx, Edit, 'Repository')
    const isPrivate = body.visibility === undefined ? body.private : body.visibility === 'private'
    const edited = await host.lifecycle.edit(repository, account, {
      name: body.name,
      description: body.description,
      isPrivate,
      archived: body.archived,
      defaultBranch: body.default_branch,
    })
    answerAs(ctx, host, edited)
  })

  router.delete('/repos/:owner/:repo', administers, async (ctx) => {
    const { account } = actorOf(ctx, host)
    await host.lifecycle.remove(aboutAsked(ctx, host).repository, account)
    ctx.status = 204
  })

  router.post('/repos/:owner/:repo/transfer', administers, async (ctx) => {
    const { account } = actorOf(ctx, host)
    const { repository } = aboutAsked(ctx, host)
    const { new_owner: newOwner } = bodyAs(ctx, Transfer, 'Repository')
    const given = await host.lifecycle.transfer(repository, account, newOwner)
    answerAs(ctx, host, given)
    ctx.status = 202
  })
  protectionRoutes(router, host)
}

function protectionRoutes(router: Router, host: GitHubHost): void {
  const path = '/repos/:owner/:repo/branches/*branch/protection'
  const administers = requires(host, { administration: 'write' })

  router.get(path, requires(host, { administration: 'read' }), (ctx) => {
    actorOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const found = host.lifecycle.protectionOf(about.repository, String(ctx.params['branch']))
    if (!found) throw new Refusal(404, 'Branch not protected')
    ctx.body = protectionAnswer(about, found)
  })

  router.put(path, administers, async (ctx) => {
    const { account } = actorOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const branch = String(ctx.params['branch'])
    if (!(await host.repositories.bare(about.repository).branches()).has(branch)) throw notFound()
    const body = bodyAs(ctx, Protection, 'ProtectedBranch')
    const protection = {
      approvals: body.required_pull_request_reviews?.required_approving_review_count ?? null,
      signatures: body.required_signatures ?? false,
      forcePushes: body.allow_force_pushes ?? false,
    }
    await host.lifecycle.protect(about.repository, account, branch, protection)
    ctx.body = protectionAnswer(about, { ...protection, branch })
  })

  router.delete(path, administers, async (ctx) => {
    const { account } = actorOf(ctx, host)
    await host.lifecycle.protect(
      aboutAsked(ctx, host).repository,
      account,
      String(ctx.params['branch']),
      null,
    )
    ctx.status = 204
  })

  router.get('/repos/:owner/:repo/rules/branches/*branch', requires(host, { metadata: 'read' }), (ctx) => {
    const about = aboutAsked(ctx, host)
    const found = host.lifecycle.protectionOf(about.repository, String(ctx.params['branch']))
    answerPage(ctx, about.origin, found ? rulesOf(about, found) : [], (one) => one)
  })
}

function answerAs(
  ctx: Parameters<typeof aboutAsked>[0],
  host: GitHubHost,
  { owner, name }: Repository,
): void {
  ctx.params = { ...ctx.params, owner, repo: name }
  ctx.body = aboutAsked(ctx, host).answer
}

/** The schema `protected-branch`, in part. */
function protectionAnswer(
  { answer }: About,
  { branch, approvals, signatures, forcePushes }: Omit<BranchProtection, 'repositoryId'>,
) {
  const url = `${answer.url}/branches/${encodeURIComponent(branch)}/protection`
  return {
    url,
    ...(approvals === null
      ? {}
      : {
          required_pull_request_reviews: {
            url: `${url}/required_pull_request_reviews`,
            required_approving_review_count: approvals,
            dismiss_stale_reviews: false,
            require_code_owner_reviews: false,
          },
        }),
    required_signatures: { url: `${url}/required_signatures`, enabled: signatures },
    allow_force_pushes: { enabled: forcePushes },
  }
}

/** The schema `repository-rule-detailed`: the protection in the form of rules in one set. */
function rulesOf(
  { answer }: About,
  { approvals, signatures, forcePushes }: BranchProtection,
): readonly object[] {
  const from = { ruleset_source_type: 'Repository', ruleset_source: answer.full_name, ruleset_id: 1 }
  const parameters = {
    required_approving_review_count: approvals ?? 0,
    dismiss_stale_reviews_on_push: false,
    require_code_owner_review: false,
    require_last_push_approval: false,
    required_review_thread_resolution: false,
  }
  return [
    ...(approvals === null ? [] : [{ type: 'pull_request', parameters, ...from }]),
    ...(signatures ? [{ type: 'required_signatures', ...from }] : []),
    ...(forcePushes ? [] : [{ type: 'non_fast_forward', ...from }]),
    { type: 'deletion', ...from },
  ]
}
