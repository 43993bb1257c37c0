/** `/repos/{owner}/{repo}/collaborators`: the people with rights in a repository. */
import type { Router } from '@koa/router'
import type { Context } from 'koa'
import { z } from 'zod'
import { personOf, sameName, type Account } from '../../../../services/codehost/state/accounts.ts'
import { roleOf } from '../../../../services/codehost/state/permissions.ts'
import { requires } from '../requires.ts'
import { notFound, Refusal } from '../../../../services/codehost/httpError.ts'
import type { GitHubHost } from '../host.ts'
import { simpleUser } from '../../../../services/codehost/rest/responses.ts'
import { bodyAs, answerPage } from '../../../../services/codehost/rest/requests.ts'
import { aboutAsked, actorOf } from '../../../../services/codehost/rest/repositories.ts'
import type { About } from '../../../../services/codehost/rest/reviewResponses.ts'

const Permission = z.object({
  permission: z.enum(['pull', 'triage', 'push', 'maintain', 'admin']).default('push'),
})
const roles = { pull: 'read', triage: 'triage', push: 'write', maintain: 'maintain', admin: 'admin' } as const

const path = '/repos/:owner/:repo/collaborators'

export function collaboratorRoutes(router: Router, host: GitHubHost): void {
  const reads = requires(host, { metadata: 'read' })
  const writes = requires(host, { administration: 'write' })

  router.get(path, reads, (ctx) => {
    actorOf(ctx, host)
    const about = aboutAsked(ctx, host)
    const { repository } = about
    const logins = [repository.owner, ...repository.collaborators.map(({ login }) => login)]
    const found = logins.flatMap((login) => personOf(login) ?? [])
    answerPage(ctx, about.origin, found, (one) => collaborator(about, one))
  })

  router.put(`${path}/:login`, writes, async (ctx) => {
    const { repository, login } = asAdmin(ctx, host)
    // GitHub treats a request without a body as one for the right to push.
    const empty = ctx.request.body === undefined
    const { permission } = empty ? Permission.parse({}) : bodyAs(ctx, Permission, 'Collaborator')
    await host.lifecycle.setCollaborator(repository, login, roles[permission])
    ctx.status = 204
  })

  router.delete(`${path}/:login`, writes, async (ctx) => {
    const { repository, login } = asAdmin(ctx, host)
    await host.lifecycle.setCollaborator(repository, login, null)
    ctx.status = 204
  })
}

/** The person who administers the repository, and the person that the request is about. Throws Refusal 403, 404 and 422. */
function asAdmin(ctx: Context & { params: Record<string, string> }, host: GitHubHost) {
  const { account } = actorOf(ctx, host)
  const { repository } = aboutAsked(ctx, host)
  if (roleOf(account, repository) !== 'admin') throw new Refusal(403, 'Must have admin rights to Repository.')
  const person = personOf(String(ctx.params['login']))
  if (!person) throw notFound()
  if (sameName(person.login, repository.owner))
    throw new Refusal(422, 'Repository owner cannot be a collaborator')
  return { repository, login: person.login }
}

/** The schema `collaborator`. */
function collaborator({ origin, repository }: About, account: Account) {
  const role = roleOf(account, repository)
  const order = ['none', 'read', 'triage', 'write', 'maintain', 'admin']
  const has = (wanted: string) => order.indexOf(role) >= order.indexOf(wanted)
  return {
    ...simpleUser(origin, account),
    role_name: role,
    permissions: {
      pull: has('read'),
      triage: has('triage'),
      push: has('write'),
      maintain: has('maintain'),
      admin: has('admin'),
    },
  }
}
