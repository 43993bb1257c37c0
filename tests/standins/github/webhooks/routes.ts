/** `/app/hook/deliveries`: lists the deliveries to an App, and sends one again. */
import type { Router } from '@koa/router'
import { asApp } from '../apps/appToken.ts'
import { originOf } from '../../../../services/codehost/http/origin.ts'
import { notFound } from '../../../../services/codehost/httpError.ts'
import { time } from '../../../../services/codehost/rest/responses.ts'
import type { GitHubHost } from '../host.ts'
import type { Delivery } from './deliveries.ts'

const mostInPage = 100

export function webhookRoutes(router: Router, host: GitHubHost): void {
  router.get('/app/hook/deliveries', async (ctx) => {
    const app = await asApp(ctx, host)
    const count = Number(ctx.query['per_page'] ?? 30)
    const size = Number.isInteger(count) && count > 0 ? Math.min(count, mostInPage) : 30
    const before = Number(ctx.query['cursor'] ?? Number.POSITIVE_INFINITY)
    const status = ctx.query['status']
    const found = host.webhooks
      .list(app.id)
      .filter((one) => !(one.id >= before))
      .filter((one) => status === undefined || (status === 'success') === isSuccess(one))
    const page = found.slice(0, size)
    const last = page.at(-1)
    if (found.length > page.length && last) {
      const next = new URLSearchParams(ctx.querystring)
      next.set('cursor', String(last.id))
      ctx.set('Link', `<${originOf(ctx, host.url)}${ctx.path}?${next}>; rel="next"`)
    }
    ctx.body = page.map(simple)
  })
  router.get('/app/hook/deliveries/:id', async (ctx) => {
    const app = await asApp(ctx, host)
    const found = host.webhooks.list(app.id).find(({ id }) => String(id) === ctx.params['id'])
    if (!found) throw notFound()
    ctx.body = {
      ...simple(found),
      url: found.hook.url,
      request: {
        headers: { 'X-GitHub-Delivery': found.guid, 'X-GitHub-Event': found.event },
        payload: JSON.parse(found.body),
      },
      response: { headers: {}, payload: null },
    }
  })
  router.post('/app/hook/deliveries/:id/attempts', async (ctx) => {
    const app = await asApp(ctx, host)
    const known = host.webhooks.list(app.id).find(({ id }) => String(id) === ctx.params['id'])
    if (!known || !host.webhooks.redeliver(known.id)) throw notFound()
    ctx.status = 202
    ctx.body = {}
  })
}

const isSuccess = ({ outcome }: Delivery): boolean =>
  outcome !== null && outcome.statusCode >= 200 && outcome.statusCode < 400

/** The schema `simple-webhook-delivery`. */
function simple(delivery: Delivery) {
  const { id, guid, at, isRedelivery, outcome, event, action, installationId, repositoryId } = delivery
  const statusCode = outcome?.statusCode ?? 0
  return {
    id,
    guid,
    delivered_at: time(at),
    redelivery: isRedelivery,
    duration: Number(((outcome?.durationMs ?? 0) / 1_000).toFixed(2)),
    status: isSuccess(delivery)
      ? 'OK'
      : statusCode === 0
        ? 'failed to connect to host'
        : `Invalid HTTP Response: ${statusCode}`,
    status_code: statusCode,
    event,
    action,
    installation_id: installationId,
    repository_id: repositoryId,
    throttled_at: null,
  }
}
