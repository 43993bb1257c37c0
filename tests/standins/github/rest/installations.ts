/** `/user/installations`: where Apps are installed, as far as a person may see that. */
import type { Router } from '@koa/router'
import type { Context } from 'koa'
import { ownerOf } from '../../../../services/codehost/state/accounts.ts'
import { mayRead } from '../../../../services/codehost/state/permissions.ts'
import { originOf } from '../../../../services/codehost/http/origin.ts'
import { isOn } from '../apps/coverage.ts'
import { tokenOf } from '../../../../services/codehost/http/authenticate.ts'
import { callerOf } from '../callers.ts'
import { notAccessible } from '../requires.ts'
import { notFound, Refusal } from '../../../../services/codehost/httpError.ts'
import type { GitHubHost } from '../host.ts'
import type { App, Installation } from '../state.ts'
import { tokenHash } from '../../../../services/codehost/state/tokens.ts'
import { installationAnswer, installationsFor } from './appAnswers.ts'
import { repositoryAnswer } from '../../../../services/codehost/rest/repositories.ts'
import { answerPage } from '../../../../services/codehost/rest/requests.ts'

export function installationRoutes(router: Router, host: GitHubHost): void {
  router.get('/user/installations', (ctx) => {
    const { app, account } = appUser(ctx, host)
    const origin = originOf(ctx, host.url)
    const found = installationsFor(host.github.current(), app, account)
    answerCounted(ctx, origin, ['installations', found], (one) => written(origin, one, app))
  })

  router.get('/user/installations/:id/repositories', (ctx) => {
    const { app, account } = appUser(ctx, host)
    const origin = originOf(ctx, host.url)
    const state = host.store.current()
    const installation = installationsFor(host.github.current(), app, account).find(
      ({ id }) => String(id) === ctx.params['id'],
    )
    if (!installation) throw notFound()
    if (installation.suspended !== null) throw new Refusal(403, 'This installation has been suspended')
    const found = state.repositories.filter((one) => isOn(installation, one) && mayRead(account, one))
    answerCounted(ctx, origin, ['repositories', found], (one) => repositoryAnswer(host, origin, one, account))
  })
}

/** `/installation`: what an installation reaches, with its own token. */
export function installationTokenRoutes(router: Router, host: GitHubHost): void {
  router.get('/installation/repositories', (ctx) => {
    const { account } = installationCaller(ctx, host)
    const origin = originOf(ctx, host.url)
    const found = host.store.current().repositories.filter((one) => account.reach?.covers(one))
    answerCounted(ctx, origin, ['repositories', found], (one) => repositoryAnswer(host, origin, one, account))
  })

  router.delete('/installation/token', async (ctx) => {
    installationCaller(ctx, host)
    const hash = tokenHash(tokenOf(ctx) ?? '')
    await host.github.update((state) => [
      { ...state, installationTokens: state.installationTokens.filter((one) => one.hash !== hash) },
      undefined,
    ])
    ctx.status = 204
  })
}

/** The installation that makes the request. Throws Refusal 401 and 403 for any other token. */
function installationCaller(ctx: Context, host: GitHubHost) {
  const caller = callerOf(ctx, host)
  if (caller.kind === 'nobody') throw new Refusal(401, 'Requires authentication')
  if (caller.kind === 'person')
    throw new Refusal(
      403,
      'You must authenticate with an installation access token in order to list repositories for an installation.',
    )
  return caller
}

/** The person who makes the request, and the App that their token belongs to. Throws Refusal 401 and 403. */
function appUser(ctx: Context, host: GitHubHost) {
  const caller = callerOf(ctx, host)
  if (caller.kind === 'nobody') throw new Refusal(401, 'Requires authentication')
  if (caller.kind === 'installation') throw notAccessible()
  return caller
}

/** An installation in the form of the REST API. */
export function written(origin: string, installation: Installation, app: App) {
  const owner = ownerOf(installation.account)
  if (!owner) throw notFound()
  return installationAnswer(origin, installation, app, owner)
}

/** A page in GitHub's other form of lists: `{ total_count, repositories: [...] }`. */
function answerCounted<Item>(
  ctx: Context,
  origin: string,
  [name, items]: readonly [name: string, items: readonly Item[]],
  write: (item: Item) => unknown,
): void {
  answerPage(ctx, origin, items, write)
  ctx.body = { total_count: items.length, [name]: ctx.body }
}
