/** Old names of repositories lead to the new ones, as on GitHub; archived repositories can only be read. */
import type { Context, Middleware } from 'koa'
import type { Account } from '../../../services/codehost/state/accounts.ts'
import { mayRead } from '../../../services/codehost/state/permissions.ts'
import { refuseArchived } from './lifecycle.ts'
import { Refusal } from '../../../services/codehost/httpError.ts'
import type { GitHubHost } from './host.ts'
import type { Repository } from '../../../services/codehost/state/stateSchema.ts'
import { browsingAs, tokenHolder } from '../../../services/codehost/http/authenticate.ts'
import { originOf } from '../../../services/codehost/http/origin.ts'

const api = /^\/api\/v3\/repos\/([^/]+)\/([^/]+)(\/.*)?$/
const page = /^\/([^/]+)\/([^/]+?)(\.git)?(\/.*)?$/
const form = /^\/([^/]+)\/([^/]+)(\/(?:pull|issues)\b.*)$/
const byId = /^\/api\/v3\/repositories\/(\d{1,15})(\/.*)?$/

/**
 * Redirects requests for a repository by a name that it no longer has: 301 for reads, 307 for writes. Repositories are also found by their number.
 */
export function redirectFormer(host: GitHubHost): Middleware {
  return async (ctx, next) => {
    const [, id, below = ''] = byId.exec(ctx.path) ?? []
    if (id !== undefined) {
      const found = host.store.current().repositories.find((one) => String(one.id) === id)
      if (found) ctx.path = `/api/v3/repos/${found.owner}/${found.name}${below}`
      return next()
    }
    const target = addressOf(ctx, host)
    if (target === undefined) return next()
    ctx.status = ctx.method === 'GET' || ctx.method === 'HEAD' ? 301 : 307
    const url = `${originOf(ctx, host.url)}${target}${ctx.search}`
    ctx.set('Location', url)
    ctx.body = { message: 'Moved Permanently', url, documentation_url: 'https://docs.github.com/rest' }
  }
}

/** The address of the repository that had the name in the request; `undefined` when it has not moved, or when the caller may not know of it. */
function addressOf(ctx: Context, host: GitHubHost): string | undefined {
  const inApi = api.exec(ctx.path)
  const [, owner = '', name = '', ...rest] = inApi ?? page.exec(ctx.path) ?? []
  if (host.repositories.find(owner, name)) return undefined
  const moved = host.lifecycle.formerly(owner, name)
  if (!moved || !mayRead(viewerOf(ctx, host), moved)) return undefined
  const below = rest.join('')
  return inApi ? `/api/v3/repositories/${moved.id}${below}` : `/${moved.owner}/${moved.name}${below}`
}

function viewerOf(ctx: Context, host: GitHubHost): Account | undefined {
  try {
    return tokenHolder(ctx, host) ?? browsingAs(ctx, host)
  } catch (fault) {
    // An invalid token is refused by the route that is then called.
    if (fault instanceof Refusal) return undefined
    throw fault
  }
}

/** Refuses writes to an archived repository, except unarchiving and deleting it. */
export function refuseArchivedWrites(host: GitHubHost): Middleware {
  return (ctx, next) => {
    const [, owner = '', name = '', below] = api.exec(ctx.path) ?? form.exec(ctx.path) ?? []
    const writes = !['GET', 'HEAD', 'OPTIONS'].includes(ctx.method)
    const found: Repository | undefined =
      writes && below !== undefined && below !== '/transfer' ? host.repositories.find(owner, name) : undefined
    if (found && mayRead(viewerOf(ctx, host), found)) refuseArchived(found)
    return next()
  }
}
