/** Pages that were viewed are counted by their address, and of nobody: whoever asks says which page, and nothing else is looked at. */
import { pageRouteOf } from '#domain/api/pageRoutes.ts'
import { countPageView } from '#domain/api/server.schema.ts'
import { routeWith, type Route } from '#platform/http/route.ts'
import { rate } from './http/limits.ts'
import type { GatewayServices } from './services.ts'

const route = routeWith<GatewayServices>()

/** From one address; a person who reads fast views no more. */
const viewsAMinute = 240

export function pageViewRoutes(): readonly Route<GatewayServices>[] {
  const allowed = rate(viewsAMinute)
  const seldomEnough = async ({ client }: { readonly client: { readonly ip: string } }) => {
    await allowed(client.ip)
    return {}
  }
  return [
    route(countPageView, seldomEnough, async ({ body }, { emit }) => {
      // Once more than the client: the names of counters are ours, whatever is sent.
      emit({ kind: 'page_viewed', route: pageRouteOf(body.route) })
      return { success: true as const }
    }),
  ]
}
