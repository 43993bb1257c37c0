/** `/user`: who the token belongs to, and what they reach. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import {
  accountOf,
  mayRead,
  mayPush,
  organizationOf,
  membershipsOf,
  organizationsOf,
  sameName,
} from '../accounts.ts'
import type { Account } from '../accounts.ts'
import type { Host } from '../services.ts'
import { originOf } from '../http/baseUrl.ts'
import { appBySlug } from '../apps/apps.ts'
import { signedInPerson, tokenHolder } from '../http/authenticate.ts'
import { requires } from '../http/requires.ts'
import { notFound } from '../httpError.ts'
import type { Repository } from '../state.ts'
import { organizationSimple, orgMembership, privateUser, publicUser, teamMembership } from './answers.ts'
import { answerPage } from './requests.ts'
import { createRepository, repositoryAnswer } from './repositories.ts'

const RepositoryQuery = z.object({
  type: z.enum(['all', 'owner', 'public', 'private', 'member']).catch('all'),
  visibility: z.enum(['all', 'public', 'private']).catch('all'),
  sort: z.enum(['created', 'updated', 'pushed', 'full_name']).catch('full_name'),
  direction: z.enum(['asc', 'desc']).optional().catch(undefined),
})
type RepositoryQuery = z.infer<typeof RepositoryQuery>

export function userRoutes(router: Router, host: Host): void {
  router.get('/user', (ctx) => {
    const account = signedInPerson(ctx, host)
    const own = host.store.current().repositories.filter((one) => sameName(one.owner, account.login))
    ctx.body = privateUser(originOf(ctx, host.url), account, own)
  })

  router.get('/users/:login', (ctx) => {
    tokenHolder(ctx, host)
    const login = ctx.params['login'] ?? ''
    const bot = /\[bot\]$/i.test(login)
    const isThere = !bot || appBySlug(host.store.current(), login.slice(0, -'[bot]'.length)) !== undefined
    const account = isThere ? (accountOf(login) ?? organizationOf(login)) : undefined
    if (!account) throw notFound()
    const own = host.store.current().repositories.filter((one) => sameName(one.owner, account.login))
    ctx.body = publicUser(originOf(ctx, host.url), account, own.filter((one) => !one.isPrivate).length)
  })

  router.get('/user/repos', (ctx) => {
    const account = signedInPerson(ctx, host)
    const query = RepositoryQuery.parse(ctx.query)
    const origin = originOf(ctx, host.url)
    const found = reachable(host, account).filter((one) => wanted(query, account, one))
    answerPage(ctx, origin, found.sort(order(query)), (one) => repositoryAnswer(host, origin, one, account))
  })

  router.post('/user/repos', requires(host, { administration: 'write' }), async (ctx) => {
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

  router.get('/orgs/:org/teams/:team/memberships/:login', requires(host, { members: 'read' }), (ctx) => {
    const account = signedInPerson(ctx, host)
    const { org = '', team: slug = '', login = '' } = ctx.params
    // An organisation shows its teams to its own people.
    const organization = membershipsOf(account).find((one) => sameName(one.login, org))
    const team = organization?.teams.find((one) => sameName(one.slug, slug))
    if (!organization || !team?.members.some((member) => sameName(member, login))) throw notFound()
    ctx.body = teamMembership(originOf(ctx, host.url), organization, team, login)
  })

  router.post('/orgs/:org/repos', requires(host, { administration: 'write' }), async (ctx) => {
    const account = signedInPerson(ctx, host)
    const organization = organizationsOf(account).find((one) => sameName(one.login, ctx.params['org'] ?? ''))
    if (!organization) throw notFound()
    await createRepository(ctx, host, account, organization)
  })
}

/** Who merely reads what everybody reads. */
const isStranger = (account: Account, one: Repository): boolean =>
  !mayPush(account, one) && !one.collaborators.some(({ login }) => sameName(login, account.login))

/** The person's own repositories and those of their organisations. */
const reachable = (host: Host, account: Account): Repository[] =>
  host.store.current().repositories.filter((one) => mayRead(account, one) && !isStranger(account, one))

function wanted(query: RepositoryQuery, account: Account, repository: Repository): boolean {
  const own = sameName(repository.owner, account.login)
  if (query.type === 'owner' && !own) return false
  if (query.type === 'member' && own) return false
  const hidden = [query.type, query.visibility]
  if (hidden.includes('public') && repository.isPrivate) return false
  return !hidden.includes('private') || repository.isPrivate
}

function order(query: RepositoryQuery): (one: Repository, other: Repository) => number {
  const key = (repository: Repository) => {
    switch (query.sort) {
      case 'created':
        return repository.createdAt
      case 'updated':
        return repository.updatedAt
      case 'pushed':
        return repository.pushedAt ?? ''
      case 'full_name':
        return `${repository.owner}/${repository.name}`.toLowerCase()
    }
  }
  const up = (query.direction ?? (query.sort === 'full_name' ? 'asc' : 'desc')) === 'asc' ? 1 : -1
  return (one, other) =>
    key(one) === key(other) ? (one.id - other.id) * up : key(one) < key(other) ? -up : up
}
