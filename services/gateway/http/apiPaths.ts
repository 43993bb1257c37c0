/** What a request asks for, and of whom: one spelling of an address, and only the names that we answer to. */
import type { IncomingMessage } from 'node:http'
import type { Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'
import { isOurHost, isOurOrigin, type Names } from './allowedHosts.ts'

/** An address that decodes or folds to one below `/api`, and is not written so, is none: what guards `/api` would not know it. */
export const onlyPlainAddresses: Middleware = (context, next) => {
  const { path } = context
  if (!isBelowApi(path) && isBelowApi(folded(path))) throw new Fault('not_found', 'There is no such call.')
  return next()
}

/** Refuses an address whose percent-encoding is broken or no UTF-8: whoever decodes it would put other characters there without a word. */
export const onlyDecodableAddresses: Middleware = (context, next) => {
  for (const [part, text] of [
    ['path', context.path],
    ['query', context.search],
  ] as const)
    if (!isDecodable(text))
      throw new Fault(
        'invalid_input',
        `The ${part} of the address is not valid: its percent-encoding is broken or not UTF-8.`,
      )
  return next()
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Whether an address is of the API, as it is written. */
export function isBelowApi(path: string): boolean {
  return path === '/api' || path.startsWith('/api/')
}

/** As the most lenient reader would take it: decoded, in lower case, with its dots and doubled slashes resolved. */
function folded(path: string): string {
  let decoded = path
  // Twice, since somebody in between may decode once.
  for (const _ of [1, 2])
    decoded = decoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  const parts: string[] = []
  for (const part of decoded.toLowerCase().split(/[/\\]/)) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part.split(';', 1)[0] ?? '')
  }
  return `/${parts.join('/')}`
}

/**
 * Refuses what came under a foreign name: a page elsewhere could have had its own name resolve to this machine, and would then ask as if it
 * were ours.
 */
export function onlyOurNames(names: Names): Middleware {
  return (context, next) => {
    if (!hostsOf(context.req).every((host) => isOurHost(host, names))) throw new Fault('foreign_host')
    return next()
  }
}

/** Whether the socket may be opened by this request: under a name of ours, and by a page of ours where a browser says which page asks. */
export function mayOpenSocket(request: IncomingMessage, names: Names): boolean {
  const { origin } = request.headers
  const hosts = hostsOf(request)
  return (
    hosts.every((host) => isOurHost(host, names)) &&
    (origin === undefined || hosts.every((host) => isOurOrigin(origin, host, names)))
  )
}

/** The `Host` header, and what the request's own address names beside it. */
function hostsOf({ headers, url = '' }: IncomingMessage): readonly string[] {
  const [, named] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url) ?? []
  return [headers.host ?? '', ...(named === undefined ? [] : [named])]
}
