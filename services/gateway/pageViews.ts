/** Counts page views by route and nothing else: they are not tied to a person. */
import { pageRouteOf } from '#domain/api/pageRoutes.ts'
import { countPageView } from '#domain/api/server.schema.ts'
import { routeWith, type Route } from '#platform/http/route.ts'
import { rate } from './http/limits.ts'
import type { GatewayServices } from './services.ts'

const route = routeWith<GatewayServices>()

/** Of one address; no reader views more pages. */
const viewsAMinute = 240

export function pageViewRoutes(): readonly Route<GatewayServices>[] {
  const allowed = rate(viewsAMinute)
  const seldomEnough = async ({ client }: { readonly client: { readonly ip: string } }) => {
    await allowed(client.ip)
    return {}
  }
  return [
    route(countPageView, seldomEnough, async ({ body }, { emit }) => {
      // Checked again here: labels of metrics are ours, whatever a client sends.
      emit({ kind: 'page_viewed', route: pageRouteOf(body.route) })
      return { success: true as const }
    }),
  ]
}
