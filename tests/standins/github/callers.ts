/** The caller of the API, by a token of an App: a person with what an installation reaches, or the installation itself. */
import type { Context } from 'koa'
import { tokenOf } from '../../../services/codehost/http/authenticate.ts'
import { Refusal } from '../../../services/codehost/httpError.ts'
import {
  botOf,
  personOf,
  sameName,
  type Account,
  type Reach,
} from '../../../services/codehost/state/accounts.ts'
import { grantByAccess, tokenHash } from '../../../services/codehost/state/tokens.ts'
import { isOn } from './apps/coverage.ts'
import type { Stores } from './stores.ts'
import type { App, GitHubState, Installation, Permissions } from './state.ts'

/** The caller, by the kind of token. */
export type Caller = { readonly kind: 'nobody' } | AppCaller

export type AppCaller =
  | { readonly kind: 'person'; readonly app: App; readonly account: Account }
  | {
      readonly kind: 'installation'
      readonly app: App
      /** The account of the App's bot. */
      readonly account: Account
      readonly installation: Installation
      readonly permissions: Permissions
    }

/** The caller, by the token that came with the request. Throws Refusal 401 for an invalid token. */
export function callerOf(ctx: Context, host: Stores): Caller {
  if (ctx.get('Authorization') === '') return { kind: 'nobody' }
  const caller = callerWith(tokenOf(ctx) ?? '', host)
  if (!caller) throw new Refusal(401, 'Bad credentials')
  return caller
}

/** The caller with a token; `undefined` for an invalid one. Throws Refusal 403 for a token of an installation that is suspended. */
export const callerWith = (token: string, host: Stores): AppCaller | undefined =>
  token.startsWith('ghs_') ? ofInstallationToken(token, host) : ofUserToken(token, host)

function ofUserToken(token: string, { store, github, clock }: Stores): AppCaller | undefined {
  const grant = grantByAccess(store.current(), token, clock.now())
  const app = grant && github.current().apps.find(({ clientId }) => clientId === grant.clientId)
  const account = grant && personOf(grant.login)
  return (
    app &&
    account && { kind: 'person', app, account: { ...account, reach: reachOfPerson(github.current(), app) } }
  )
}

/** A user token reaches what both the person and an installation of the App reach. */
function reachOfPerson(state: GitHubState, app: App): Reach {
  const active = state.installations.filter((one) => one.appId === app.id && one.suspended === null)
  return {
    writesUnder: (login) => active.some((one) => sameName(one.account, login)),
    covers: (repository) => active.some((one) => isOn(one, repository)),
  }
}

function ofInstallationToken(text: string, { github, clock }: Stores): AppCaller | undefined {
  const state = github.current()
  const token = state.installationTokens.find(
    (one) => one.hash === tokenHash(text) && new Date(one.expiresAt) > clock.now(),
  )
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
