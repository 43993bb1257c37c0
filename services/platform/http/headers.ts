/** Which headers of a request or an answer a proxy passes on. */
import type { IncomingHttpHeaders } from 'node:http'

/** Headers for one connection only: RFC 9110, 7.6.1, and those that proxies of old use. */
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

/** The end-to-end headers: without the hop-by-hop ones, those that `Connection` names, and `dropped`, in lower case. */
export function endToEndHeaders(
  headers: IncomingHttpHeaders,
  dropped: readonly string[] = [],
): IncomingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const gone = new Set<string>([...hopByHop, ...named, ...dropped])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !gone.has(name)))
}
