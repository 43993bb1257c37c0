/** The REST API's routes for the person to whom the token belongs: account, repositories, organisations and teams. */
import type { Router } from '@koa/router'
import { membershipsOf, sameName, type Account } from '../state/accounts.ts'
import { mayRead, mayPush } from '../state/permissions.ts'
import type { Host } from '../host.ts'
import { originOf } from '../http/origin.ts'
import { signedInPerson } from '../http/authenticate.ts'
import { notFound, Refusal } from '../httpError.ts'
import type { Repository } from '../state/stateSchema.ts'
import { organizationSimple, orgMembership, privateUser, teamMembership } from './responses.ts'
import { answerPage } from './requests.ts'
import { createRepository, repositoryAnswer } from './repositories.ts'

export function userRoutes(router: Router, host: Host): void {
  router.get('/user', (ctx) => {
    const account = signedInPerson(ctx, host)
    const own = host.store.current().repositories.filter((one) => sameName(one.owner, account.login))
    ctx.body = privateUser(originOf(ctx, host.url), account, own)
  })

  router.get('/user/repos', (ctx) => {
    const account = signedInPerson(ctx, host)
    const origin = originOf(ctx, host.url)
    const found = reachable(host, account).sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1))
    answerPage(ctx, origin, found, (one) => repositoryAnswer(host, origin, one, account))
  })

  // GitHub gives this answer to tokens that are not from a GitHub App.
  router.get('/user/installations', (ctx) => {
    signedInPerson(ctx, host)
    throw new Refusal(
      403,
      'You must authenticate with an access token authorized to a GitHub App in order to list installations',
    )
  })

  router.post('/user/repos', async (ctx) => {
    const account = signedInPerson(ctx, host)
    await createRepository(ctx, host, account, account)
  })

  router.get('/user/orgs', (ctx) => {
    const origin = originOf(ctx, host.url)
    answerPage(ctx, origin, membershipsOf(signedInPerson(ctx, host)), (one) =>
      organizationSimple(origin, one),
    )
  })

  router.get('/user/memberships/orgs/:org', (ctx) => {
    const account = signedInPerson(ctx, host)
    const organization = membershipsOf(account).find((one) => sameName(one.login, ctx.params['org'] ?? ''))
    if (!organization) throw notFound()
    ctx.body = orgMembership(originOf(ctx, host.url), organization, account)
  })

  router.get('/orgs/:org/teams/:team/memberships/:login', (ctx) => {
    const account = signedInPerson(ctx, host)
    const { org = '', team: slug = '', login = '' } = ctx.params
    // Only members of an organisation can see its teams.
    const organization = membershipsOf(account).find((one) => sameName(one.login, org))
    const team = organization?.teams.find((one) => sameName(one.slug, slug))
    if (!organization || !team?.members.some((member) => sameName(member, login))) throw notFound()
    ctx.body = teamMembership(originOf(ctx, host.url), organization, team, login)
  })
}

/** Whether the person can only read the repository, because it is public. */
const isStranger = (account: Account, one: Repository): boolean =>
  !mayPush(account, one) && !one.collaborators.some(({ login }) => sameName(login, account.login))

/** The repositories that the person may read, except public repositories in which the person has no role. */
export const reachable = (host: Host, account: Account): Repository[] =>
  host.store.current().repositories.filter((one) => mayRead(account, one) && !isStranger(account, one))
