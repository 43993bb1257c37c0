/** Selects the headers of a request or response that a proxy forwards. */
import type { IncomingHttpHeaders } from 'node:http'

/** Headers that apply to a single connection, according to RFC 9110, 7.6.1, or to the older RFC 2616, 13.5.1. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const

/** The end-to-end headers: all except hop-by-hop headers, those listed in `Connection`, and `dropped` (in lower case). */
export function endToEndHeaders(
  headers: IncomingHttpHeaders,
  dropped: readonly string[] = [],
): IncomingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const gone = new Set<string>([...hopByHop, ...named, ...dropped])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !gone.has(name)))
}
