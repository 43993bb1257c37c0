/** `/user/installations`: where Apps are installed, as a person may see it. */
import type { Router } from '@koa/router'
import type { Context } from 'koa'
import { mayRead, ownerOf } from '../accounts.ts'
import { originOf } from '../http/baseUrl.ts'
import { isOn } from '../apps/coverage.ts'
import { callerOf, tokenOf } from '../http/authenticate.ts'
import { notAccessible } from '../http/requires.ts'
import { notFound, Refusal } from '../httpError.ts'
import type { Host } from '../services.ts'
import type { App, Installation } from '../state.ts'
import { tokenHash } from '../tokens.ts'
import { installationAnswer, installationsFor } from './appAnswers.ts'
import { repositoryAnswer } from './repositories.ts'
import { answerCounted } from './requests.ts'

export function installationRoutes(router: Router, host: Host): void {
  router.get('/user/installations', (ctx) => {
    const { app, account } = appUser(ctx, host)
    const origin = originOf(ctx, host.url)
    const found = installationsFor(host.store.current(), app, account)
    answerCounted(ctx, origin, ['installations', found], (one) => written(origin, one, app))
  })

  router.get('/user/installations/:id/repositories', (ctx) => {
    const { app, account } = appUser(ctx, host)
    const origin = originOf(ctx, host.url)
    const state = host.store.current()
    const installation = installationsFor(state, app, account).find(
      ({ id }) => String(id) === ctx.params['id'],
    )
    if (!installation) throw notFound()
    if (installation.suspended !== null) throw new Refusal(403, 'This installation has been suspended')
    const found = state.repositories.filter((one) => isOn(installation, one) && mayRead(account, one))
    answerCounted(ctx, origin, ['repositories', found], (one) => repositoryAnswer(host, origin, one, account))
  })
}

/** `/installation`: what an installation's own token reaches. */
export function installationTokenRoutes(router: Router, host: Host): void {
  router.get('/installation/repositories', (ctx) => {
    const { account } = installationCaller(ctx, host)
    const origin = originOf(ctx, host.url)
    const found = host.store.current().repositories.filter((one) => account.reach?.covers(one))
    answerCounted(ctx, origin, ['repositories', found], (one) => repositoryAnswer(host, origin, one, account))
  })

  router.delete('/installation/token', async (ctx) => {
    installationCaller(ctx, host)
    const hash = tokenHash(tokenOf(ctx) ?? '')
    await host.store.update((state) => [
      { ...state, installationTokens: state.installationTokens.filter((one) => one.hash !== hash) },
      undefined,
    ])
    ctx.status = 204
  })
}

/** Throws Refusal 401 and 403 for any other token. */
function installationCaller(ctx: Context, host: Host) {
  const caller = callerOf(ctx, host)
  if (caller.kind === 'nobody') throw new Refusal(401, 'Requires authentication')
  if (caller.kind === 'person')
    throw new Refusal(
      403,
      'You must authenticate with an installation access token in order to list repositories for an installation.',
    )
  return caller
}

/** The person who asks, and the App that their token is of. Throws Refusal 401 and 403. */
function appUser(ctx: Context, host: Host) {
  const caller = callerOf(ctx, host)
  if (caller.kind === 'nobody') throw new Refusal(401, 'Requires authentication')
  if (caller.kind === 'installation') throw notAccessible()
  return caller
}

/** An installation as the REST API tells it. */
export function written(origin: string, installation: Installation, app: App) {
  const owner = ownerOf(installation.account)
  if (!owner) throw notFound()
  return installationAnswer(origin, installation, app, owner)
}
