/** Determines who makes a request: by a token in the Authorization header, or by the session of a browser. */
import type { Context } from 'koa'
import type { Host } from '../host.ts'
import { notFound, Refusal } from '../httpError.ts'
import type { Repositories } from '../repositories/repositories.ts'
import { personOf, type Account } from '../state/accounts.ts'
import { mayRead } from '../state/permissions.ts'
import { clientAppId, type Caller } from '../state/actors.ts'
import type { Repository } from '../state/stateSchema.ts'
import { grantByAccess, newToken, sessionLogin, withSession } from '../state/tokens.ts'

type Here = Pick<Host, 'store' | 'clock' | 'client' | 'extension'>

/** The name and password in an Authorization header of the scheme Basic; `undefined` without such a header. */
export function basicCredentials(ctx: Context): { name: string; password: string } | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(ctx.get('Authorization')) ?? []
  if (encoded === undefined) return undefined
  const [, name, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  return name === undefined || password === undefined ? undefined : { name, password }
}

/** The token in an Authorization header, in any of the schemes that GitHub accepts. */
export function tokenOf(ctx: Context): string | undefined {
  const [, bearer] = /^(?:bearer|token) +(\S+) *$/i.exec(ctx.get('Authorization')) ?? []
  return bearer ?? basicCredentials(ctx)?.password
}

/** The caller to whom the request's token belongs; `nobody` without an Authorization header. Throws Refusal 401 for an invalid token. */
export function callerOf(ctx: Context, host: Here): Caller {
  if (ctx.get('Authorization') === '') return { kind: 'nobody' }
  const token = tokenOf(ctx) ?? ''
  const caller = host.extension.callerOf ? host.extension.callerOf(token) : personWith(token, host)
  if (!caller) throw new Refusal(401, 'Bad credentials')
  return caller
}

function personWith(token: string, { store, clock, client }: Here): Caller | undefined {
  const grant = grantByAccess(store.current(), token, clock.now())
  const account = grant?.clientId === client.clientId ? personOf(grant.login) : undefined
  return account && { kind: 'somebody', account, appId: clientAppId }
}

/** The person or bot whose token the request has; `undefined` without a token. Throws Refusal 401 for an invalid token. */
export function tokenHolder(ctx: Context, host: Here): Account | undefined {
  const caller = callerOf(ctx, host)
  return caller.kind === 'nobody' ? undefined : caller.account
}

/** The person or bot whose token the request has. Throws Refusal 401 without a valid token. */
export function signedIn(ctx: Context, host: Here): Account {
  const account = tokenHolder(ctx, host)
  if (!account) throw new Refusal(401, 'Requires authentication')
  return account
}

/** The person whose token the request has. Throws Refusal 401 without a valid token, and 403 for a bot. */
export function signedInPerson(ctx: Context, host: Here): Account {
  const account = signedIn(ctx, host)
  if (account.type === 'Bot') throw new Refusal(403, 'Resource not accessible by integration')
  return account
}

/** The repository, if `viewer` may read it. Otherwise throws Refusal 404. */
export function readable(
  host: { readonly repositories: Repositories },
  viewer: Account | undefined,
  owner: string | undefined,
  name: string | undefined,
): Repository {
  const repository = host.repositories.find(owner ?? '', name ?? '')
  if (!repository || !mayRead(viewer, repository)) throw notFound()
  return repository
}

const cookie = 'codehost_session'

/** The account that a person chose in the browser that makes the request; `undefined` if nobody chose one. */
export function browsingAs(ctx: Context, host: Here): Account | undefined {
  const token = ctx.cookies.get(cookie)
  const login = token && sessionLogin(host.store.current(), token, host.clock.now())
  return login ? personOf(login) : undefined
}

/** Remembers the account in a cookie, so that this browser sees the account's private pages. */
export async function rememberBrowser(ctx: Context, host: Here, account: Account): Promise<void> {
  if (browsingAs(ctx, host)?.login === account.login) return
  const token = newToken('session_')
  await host.store.update((state) => [withSession(state, token, account.login, host.clock.now()), undefined])
  ctx.cookies.set(cookie, token, { httpOnly: true, sameSite: 'lax', path: '/', overwrite: true })
}
