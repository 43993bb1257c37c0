/** Who asks: by a token in the Authorization header, or by the session of a browser. */
import type { Context } from 'koa'
import type { Clock } from '#platform/ports/clock.ts'
import { botOf, mayRead, personOf, sameName } from '../accounts.ts'
import type { Account, Reach } from '../accounts.ts'
import { isOn } from '../apps/coverage.ts'
import type { Repositories } from '../repositories.ts'
import type { Store } from '../store.ts'
import { notFound, Refusal } from '../httpError.ts'
import type { App, Installation, Permissions, Repository, State } from '../state.ts'
import { grantByAccess, installationTokenOf, newToken, sessionLogin, withSession } from '../tokens.ts'

interface Here {
  readonly store: Store
  readonly clock: Clock
}

/** Name and password of an Authorization header of the Basic scheme. */
export function basicCredentials(ctx: Context): { name: string; password: string } | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(ctx.get('Authorization')) ?? []
  if (encoded === undefined) return undefined
  const [, name, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  return name === undefined || password === undefined ? undefined : { name, password }
}

/** Who asks the API, by the kind of their token. */
export type Caller =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'person'; readonly app: App; readonly account: Account }
  | {
      readonly kind: 'installation'
      readonly app: App
      /** The App's bot. */
      readonly account: Account
      readonly installation: Installation
      readonly permissions: Permissions
    }

/** The token of an Authorization header, by any of the schemes that GitHub takes. */
export function tokenOf(ctx: Context): string | undefined {
  const [, bearer] = /^(?:bearer|token) +(\S+) *$/i.exec(ctx.get('Authorization')) ?? []
  return bearer ?? basicCredentials(ctx)?.password
}

/** Who asks, by the token that came with the request. Throws Refusal 401 for a token that is not valid. */
export function callerOf(ctx: Context, host: Here): Caller {
  if (ctx.get('Authorization') === '') return { kind: 'nobody' }
  const token = tokenOf(ctx) ?? ''
  const state = host.store.current()
  const now = host.clock.now()
  const caller = token.startsWith('ghs_')
    ? ofInstallationToken(state, token, now)
    : ofUserToken(state, token, now)
  if (!caller) throw new Refusal(401, 'Bad credentials')
  return caller
}

function ofUserToken(state: State, token: string, now: Date): Caller | undefined {
  const grant = grantByAccess(state, token, now)
  const app = grant && state.apps.find(({ clientId }) => clientId === grant.clientId)
  const account = grant && personOf(grant.login)
  return app && account && { kind: 'person', app, account: { ...account, reach: reachOfPerson(state, app) } }
}

/** A user token reaches what both the person and an installation of the App reach. */
function reachOfPerson(state: State, app: App): Reach {
  const active = state.installations.filter((one) => one.appId === app.id && one.suspended === null)
  return {
    writesUnder: (login) => active.some((one) => sameName(one.account, login)),
    covers: (repository) => active.some((one) => isOn(one, repository)),
  }
}

function ofInstallationToken(state: State, text: string, now: Date): Caller | undefined {
  const token = installationTokenOf(state, text, now)
  const installation = state.installations.find(({ id }) => id === token?.installationId)
  const app = state.apps.find(({ id }) => id === installation?.appId)
  if (!token || !installation || !app) return undefined
  if (installation.suspended !== null) throw new Refusal(403, 'This installation has been suspended')
  const { permissions, repositoryIds } = token
  const reach: Reach = {
    writesUnder: (login) => sameName(installation.account, login),
    covers: (repository) =>
      isOn(installation, repository) && (repositoryIds === null || repositoryIds.includes(repository.id)),
  }
  return { kind: 'installation', app, account: { ...botOf(app.slug), reach }, installation, permissions }
}

/** Whose token came with the request, a person or a bot; `undefined` without one. Throws Refusal 401 for a token that is not valid. */
export function tokenHolder(ctx: Context, host: Here): Account | undefined {
  const caller = callerOf(ctx, host)
  return caller.kind === 'nobody' ? undefined : caller.account
}

/** Whose token came with the request, a person or a bot. Throws Refusal 401. */
export function signedIn(ctx: Context, host: Here): Account {
  const account = tokenHolder(ctx, host)
  if (!account) throw new Refusal(401, 'Requires authentication')
  return account
}

/** The person whose token came with the request, where a bot's is not taken. Throws Refusal 401 and 403. */
export function signedInPerson(ctx: Context, host: Here): Account {
  const account = signedIn(ctx, host)
  if (account.type === 'Bot') throw new Refusal(403, 'Resource not accessible by integration')
  return account
}

/** The repository, if this person may know that it is there. Throws Refusal 404. */
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

/** The account that was chosen in this browser. */
export function browsingAs(ctx: Context, host: Here): Account | undefined {
  const token = ctx.cookies.get(cookie)
  const login = token && sessionLogin(host.store.current(), token, host.clock.now())
  return login ? personOf(login) : undefined
}

/** Remembers the account in this browser, so that it sees the account's private pages. */
export async function rememberBrowser(ctx: Context, host: Here, account: Account): Promise<void> {
  if (browsingAs(ctx, host)?.login === account.login) return
  const token = newToken('session_')
  await host.store.update((state) => [withSession(state, token, account.login, host.clock.now()), undefined])
  ctx.cookies.set(cookie, token, { httpOnly: true, sameSite: 'lax', path: '/', overwrite: true })
}
