/** `/user/installations`: where Apps are installed, as a person may see it. */
import type { Router } from '@koa/router'
import type { Context } from 'koa'
import { mayRead, ownerOf } from '../accounts.ts'
import { originOf } from '../http/baseUrl.ts'
import { isOn } from '../apps/coverage.ts'
import { callerOf } from '../http/authenticate.ts'
import { notAccessible } from '../http/requires.ts'
import { notFound, Refusal } from '../httpError.ts'
import type { Host } from '../services.ts'
import type { App, Installation } from '../state.ts'
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
