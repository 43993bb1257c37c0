/** The host names that we answer to, and the origin that a browser knows us by. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Context, Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'

export interface Names {
  /** The address by which people reach us, if the operator has configured it. */
  readonly publicUrl: string | null
  /** The host name or address on which we listen. */
  readonly host: string
}

/**
 * Whether a `Host` header names us: by the public address, by what we listen on, by a name of loopback, or by any numeric address, because nobody can
 * make a numeric address resolve to us.
 */
export function isOurHost(hostHeader: string, { publicUrl, host }: Names): boolean {
  const name = hostnameOf(hostHeader)
  if (name === undefined) return false
  return (
    isLoopbackName(name) ||
    isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 ||
    name === host.toLowerCase() ||
    (publicUrl !== null && name === new URL(publicUrl).hostname)
  )
}

/** Whether a page of `origin` is ours, for a request with this `Host` header. */
export function isOurOrigin(
  origin: string,
  hostHeader: string,
  { publicUrl }: Pick<Names, 'publicUrl'>,
): boolean {
  if (!URL.canParse(origin)) return false
  const from = new URL(origin)
  if (publicUrl !== null && from.origin === new URL(publicUrl).origin) return true
  // The page may be served from another port of the same machine while it is developed.
  const bothHere = isLoopbackName(from.hostname) && isLoopbackName(hostnameOf(hostHeader) ?? '')
  return bothHere || from.host === hostHeader.toLowerCase()
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name)
}

/** A host without its port; `undefined` when the text is no host. */
function hostnameOf(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^\s:@/?#\\,]+)(?::\d{1,5})?$/.exec(host.toLowerCase())?.[1]?.replace(/\.$/, '')
}

/** Refuses requests under a foreign host name: another site could let its own name resolve to this machine (DNS rebinding). */
export function refuseForeignHosts(names: Names): Middleware {
  return (context, next) => {
    if (!hostsOf(context.req).every((host) => isOurHost(host, names))) throw new Fault('foreign_host')
    return next()
  }
}

/** Whether the request may open the socket: it must name us as its host and, if a browser names the page's origin, that page must be ours. */
export function mayOpenSocket(request: IncomingMessage, names: Names): boolean {
  const { origin } = request.headers
  const hosts = hostsOf(request)
  return (
    hosts.every((host) => isOurHost(host, names)) &&
    (origin === undefined || hosts.every((host) => isOurOrigin(origin, host, names)))
  )
}

/** The `Host` header, and the host in the request's address if that has one. */
function hostsOf({ headers, url = '' }: IncomingMessage): readonly string[] {
  const [, named] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url) ?? []
  return [headers.host ?? '', ...(named === undefined ? [] : [named])]
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/

/**
 * The address by which the browser reaches us: `publicUrl` when it is set, otherwise the loopback name that the request used. No other `Host` header
 * is trusted.
 */
export function originOf(
  context: Pick<Context, 'host'>,
  options: { publicUrl: string | null; port: number },
): string {
  if (options.publicUrl !== null) return new URL(options.publicUrl).origin
  return loopback.test(context.host) ? `http://${context.host}` : `http://localhost:${options.port}`
}
