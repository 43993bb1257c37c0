/**
 * The page-view call, which goes to the product's own server. The server counts pages and not people: ids are removed from the path first, and
 * nothing is sent for people who asked not to be tracked.
 */
import { pageRouteOf } from '#domain/api/pageRoutes.ts'
import { serverRoutes } from '#domain/api/server.ts'

/** The parts of `navigator` that are used here. TypeScript's own types do not include Global Privacy Control. */
export type Beacons = Partial<Pick<Navigator, 'doNotTrack' | 'sendBeacon'>> & {
  readonly globalPrivacyControl?: boolean
}

/** Reports a page view without waiting. Does nothing in a browser without beacons. */
export function tellPageView(path: string, browser: Beacons = navigator): void {
  if (browser.doNotTrack === '1' || browser.globalPrivacyControl === true) return
  const body = new Blob([JSON.stringify({ route: pageRouteOf(path) })], { type: 'application/json' })
  // If the browser refuses to send the beacon, only a count is lost.
  browser.sendBeacon?.(`/api${serverRoutes.countPageView.path}`, body)
}
