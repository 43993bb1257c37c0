/**
 * Headers between a browser and the app in a preview. The app must not learn or change anything of the product, and sees requests as if they were
 * sent to localhost.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { endToEndHeaders } from '#platform/http/endToEndHeaders.ts'

const cookieName = 'flightdeck_preview'
/** Matches the names of the product's own cookies. */
const ours = /^(?:__(?:host|secure)-)?flightdeck_/i

/** The name of the cookie with a pass. With https, the name has a prefix that keeps pages of sibling hosts from setting the cookie. */
const passCookieName = (origin: string): string =>
  origin.startsWith('https:') ? `__Host-${cookieName}` : cookieName

export function passCookie(origin: string, value: string, seconds: number): string {
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  // A `Strict` cookie would not be sent after the redirect that removes the ticket from the address, since the product's page began that navigation.
  return `${passCookieName(origin)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

/** The values of all cookies that have the name of the pass. */
export function passCookiesIn(header: string | undefined, origin: string): readonly string[] {
  const name = passCookieName(origin)
  return pairsOf(header).flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : []))
}

const pairsOf = (header = ''): readonly string[] => header.split(';').map((pair) => pair.trim())

/**
 * Whether a page other than the preview's own makes this request; opening the preview by a link or an address does not count. The cookie's `SameSite`
 * is not enough: another preview may belong to the same site, and a browser lets every page open WebSockets to other origins.
 */
export function isFromElsewhere(headers: IncomingHttpHeaders, method: string, ownOrigin: string): boolean {
  const { origin } = headers
  if (origin !== undefined && origin !== ownOrigin) return true
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return false
  const isOpened = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return !(isOpened && (method === 'GET' || method === 'HEAD'))
}

const notForTheApp = [
  'host',
  'origin',
  'referer',
  'cookie',
  'expect',
  'forwarded',
  'x-real-ip',
  'via',
] as const

/** The headers of a request as the app gets them. */
export function headersForApp(
  headers: IncomingHttpHeaders,
  { port, ownOrigin, isOurBearer }: { port: number; ownOrigin: string; isOurBearer: boolean },
): OutgoingHttpHeaders {
  const local = `http://localhost:${port}`
  const passed = Object.entries(
    endToEndHeaders(headers, isOurBearer ? [...notForTheApp, 'authorization'] : notForTheApp),
  )
  const cookies = pairsOf(headers.cookie).filter((pair) => pair !== '' && !ours.test(pair))
  const isChunked = headers['transfer-encoding'] !== undefined
  return {
    ...Object.fromEntries(passed.filter(([name]) => !name.startsWith('x-forwarded-'))),
    host: `localhost:${port}`,
    ...(headers.origin !== undefined && { origin: local }),
    ...(headers.referer?.startsWith(`${ownOrigin}/`) && {
      referer: local + headers.referer.slice(ownOrigin.length),
    }),
    ...(cookies.length > 0 && { cookie: cookies.join('; ') }),
    // Without this header, the app could take the body for the next request.
    ...(isChunked && { 'transfer-encoding': 'chunked' }),
  }
}

/** Headers with which the app could act on other pages of the product's site, or on the connection. */
const notForTheBrowser = ['clear-site-data', 'strict-transport-security', 'alt-svc', 'set-cookie'] as const

/** The headers of the app's response as the browser gets them. */
export function headersForBrowser(
  headers: IncomingHttpHeaders,
  { port, ownOrigin }: { port: number; ownOrigin: string },
): OutgoingHttpHeaders {
  const policies = [headers['content-security-policy'] ?? []].flat()
  const caching = headers['cache-control']
  const cookies = (headers['set-cookie'] ?? []).flatMap(hostCookie)
  const { location } = headers
  const isFrameless = String(headers['x-frame-options']).toLowerCase() === 'deny'
  return {
    ...endToEndHeaders(headers, notForTheBrowser),
    // A browser applies every policy in this list, so the page's own policies stay in force.
    'content-security-policy': [...policies, "frame-ancestors 'self'"].join(', '),
    'x-frame-options': isFrameless ? 'DENY' : 'SAMEORIGIN',
    'cache-control': caching === undefined ? 'private' : `private, ${caching}`,
    ...(cookies.length > 0 && { 'set-cookie': cookies }),
    ...(location !== undefined && { location: atOwnOrigin(location, port, ownOrigin) }),
  }
}

/** The app's cookie without `Domain`, so that no other host gets it. Drops a cookie that has no name, or the name of one of our cookies. */
function hostCookie(cookie: string): readonly string[] {
  const [pair = '', ...attributes] = cookie.split(';')
  if (ours.test(pair.trim()) || !/^\s*[^=\s][^=]*=/.test(pair)) return []
  return [[pair, ...attributes.filter((attribute) => !/^\s*domain\s*(?:=|$)/i.test(attribute))].join(';')]
}

/** The target of a redirect by the app, as the browser must see it: an address of the app becomes one of the preview, any other stays as it is. */
function atOwnOrigin(location: string, port: number, ownOrigin: string): string {
  const [, rest] =
    new RegExp(`^https?://(?:localhost|127\\.0\\.0\\.1):${port}(/.*|\\?.*|)$`, 'i').exec(location) ?? []
  return rest === undefined ? location : ownOrigin + rest
}
