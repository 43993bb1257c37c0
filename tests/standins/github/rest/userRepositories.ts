/** `GET /user/repos`, as pages and in any order. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { signedInPerson } from '../../../../services/codehost/http/authenticate.ts'
import { originOf } from '../../../../services/codehost/http/origin.ts'
import { repositoryAnswer } from '../../../../services/codehost/rest/repositories.ts'
import { answerPage } from '../../../../services/codehost/rest/requests.ts'
import { reachable } from '../../../../services/codehost/rest/user.ts'
import { sameName, type Account } from '../../../../services/codehost/state/accounts.ts'
import type { Repository } from '../../../../services/codehost/state/stateSchema.ts'
import type { GitHubHost } from '../host.ts'

const RepositoryQuery = z.object({
  type: z.enum(['all', 'owner', 'public', 'private', 'member']).catch('all'),
  visibility: z.enum(['all', 'public', 'private']).catch('all'),
  sort: z.enum(['created', 'updated', 'pushed', 'full_name']).catch('full_name'),
  direction: z.enum(['asc', 'desc']).optional().catch(undefined),
})
type RepositoryQuery = z.infer<typeof RepositoryQuery>

export function userRepositoryRoute(router: Router, host: GitHubHost): void {
  router.get('/user/repos', (ctx) => {
    const account = signedInPerson(ctx, host)
    const query = RepositoryQuery.parse(ctx.query)
    const origin = originOf(ctx, host.url)
    const found = reachable(host, account).filter((one) => wanted(query, account, one))
    answerPage(ctx, origin, found.sort(order(query)), (one) => repositoryAnswer(host, origin, one, account))
  })
}

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
