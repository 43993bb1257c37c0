/**
 * The page-view call: to the product's own server, which counts pages and nobody. What names a thing stays here, and who asks
 * not to be tracked tells nothing.
 */
import { pageRouteOf } from '#domain/api/pageRoutes.ts'
import { serverRoutes } from '#domain/api/server.ts'

/** The parts of a browser that it takes; Global Privacy Control is not known to all of them. */
export type Teller = Partial<Pick<Navigator, 'doNotTrack' | 'sendBeacon'>> & {
  readonly globalPrivacyControl?: boolean
}

/** Tells that a page was viewed, without waiting for anything. A browser without beacons tells nothing. */
export function tellPageView(path: string, teller: Teller = navigator): void {
  if (teller.doNotTrack === '1' || teller.globalPrivacyControl === true) return
  const body = new Blob([JSON.stringify({ route: pageRouteOf(path) })], { type: 'application/json' })
  // A browser that refuses it has lost a count, and nothing else.
  teller.sendBeacon?.(`/api${serverRoutes.countPageView.path}`, body)
}
