/** Checks host names and origins of requests against our own. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Context, Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'

export interface Names {
  /** The address at which people reach the server, if the operator has set it. */
  readonly publicUrl: string | null
  /** The host that the server listens on. */
  readonly host: string
}

/**
 * Whether a `Host` header names this server: by its public address, by the host that it listens on, by a loopback name, or by any numeric address.
 * Loopback names and numeric addresses are safe, because DNS rebinding cannot change where they lead.
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

/** Whether `origin` is ours, for a request with this `Host` header. */
export function isOurOrigin(
  origin: string,
  hostHeader: string,
  { publicUrl }: Pick<Names, 'publicUrl'>,
): boolean {
  if (!URL.canParse(origin)) return false
  const from = new URL(origin)
  if (publicUrl !== null && from.origin === new URL(publicUrl).origin) return true
  // During development, another port of the same machine may serve the page.
  const bothHere = isLoopbackName(from.hostname) && isLoopbackName(hostnameOf(hostHeader) ?? '')
  return bothHere || from.host === hostHeader.toLowerCase()
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name)
}

/** The host name without port; `undefined` for an invalid host. */
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

/** Whether the request may open the socket: its host names, and its origin if it has one, must be ours. */
export function mayOpenSocket(request: IncomingMessage, names: Names): boolean {
  const { origin } = request.headers
  const hosts = hostsOf(request)
  return (
    hosts.every((host) => isOurHost(host, names)) &&
    (origin === undefined || hosts.every((host) => isOurOrigin(origin, host, names)))
  )
}

/** The `Host` header, and the host in the request's address if there is one. */
function hostsOf({ headers, url = '' }: IncomingMessage): readonly string[] {
  const [, named] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url) ?? []
  return [headers.host ?? '', ...(named === undefined ? [] : [named])]
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/

/** Our address as the browser sees it: `publicUrl` if set, else the loopback name that the request used. Other `Host` headers are not trusted. */
export function originOf(
  context: Pick<Context, 'host'>,
  options: { publicUrl: string | null; port: number },
): string {
  if (options.publicUrl !== null) return new URL(options.publicUrl).origin
  return loopback.test(context.host) ? `http://${context.host}` : `http://localhost:${options.port}`
}
