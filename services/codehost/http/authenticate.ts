/** Who asks: by a token in the Authorization header, or by the session of a browser. */
import type { Context } from 'koa'
import { accountOf, mayRead } from '../accounts.ts'
import type { Account } from '../accounts.ts'
import type { Host } from '../services.ts'
import { notFound, Refusal } from '../httpError.ts'
import type { Repository } from '../state.ts'
import { grantByAccess, newToken, sessionLogin, withSession } from '../tokens.ts'

type Here = Pick<Host, 'store' | 'clock'>

/** Name and password of an Authorization header of the Basic scheme. */
export function basicCredentials(ctx: Context): { name: string; password: string } | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(ctx.get('Authorization')) ?? []
  if (encoded === undefined) return undefined
  const [, name, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  return name === undefined || password === undefined ? undefined : { name, password }
}

/** The person whose token came with the request; `undefined` without one. Throws Refusal 401 for a token that is not valid. */
export function tokenHolder(ctx: Context, host: Here): Account | undefined {
  if (ctx.get('Authorization') === '') return undefined
  const [, bearer] = /^(?:bearer|token) +(\S+) *$/i.exec(ctx.get('Authorization')) ?? []
  const token = bearer ?? basicCredentials(ctx)?.password
  const grant = token === undefined ? undefined : grantByAccess(host.store.current(), token, host.clock.now())
  const account = grant && accountOf(grant.login)
  if (!account) throw new Refusal(401, 'Bad credentials')
  return account
}

/** The person whose token came with the request. Throws Refusal 401. */
export function signedIn(ctx: Context, host: Here): Account {
  const account = tokenHolder(ctx, host)
  if (!account) throw new Refusal(401, 'Requires authentication')
  return account
}

/** The repository, if this person may know that it is there. Throws Refusal 404. */
export function readable(
  host: Pick<Host, 'repositories'>,
  viewer: Account | undefined,
  owner: string | undefined,
  name: string | undefined,
): Repository {
  const repository = host.repositories.find(owner ?? '', name ?? '')
  if (!repository || !mayRead(viewer, repository)) throw notFound()
  return repository
}

const cookie = 'codehost_session'

/** The account that was chosen in this browser. */
export function browsingAs(ctx: Context, host: Here): Account | undefined {
  const token = ctx.cookies.get(cookie)
  const login = token && sessionLogin(host.store.current(), token, host.clock.now())
  return login ? accountOf(login) : undefined
}

/** Remembers the account in this browser, so that it sees the account's private pages. */
export async function rememberBrowser(ctx: Context, host: Here, account: Account): Promise<void> {
  if (browsingAs(ctx, host)?.login === account.login) return
  const token = newToken('session_')
  await host.store.update((state) => [withSession(state, token, account.login, host.clock.now()), undefined])
  ctx.cookies.set(cookie, token, { httpOnly: true, sameSite: 'lax', path: '/', overwrite: true })
}
