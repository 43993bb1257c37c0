/**
 * The names that the gateway answers to. A page elsewhere could have its own name lead to this machine, and would then be let in by the
 * browser as if it were ours (DNS rebinding); an address in numbers, and what ends in `localhost`, can be nobody else's.
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'

export interface OwnNames {
  /** Whether a `Host` header (RFC 9110, 7.2) names us; its port is not looked at, since proxies and port mappings change it. */
  areIn(host: string | undefined): boolean
}

/** `publicUrl`: where people reach us; `listensOn`: the name or address in `HOST`. */
export function ownNames({
  publicUrl,
  listensOn,
}: {
  readonly publicUrl: string | null
  readonly listensOn: string
}): OwnNames {
  const own = new Set([listensOn.toLowerCase(), ...(publicUrl === null ? [] : [new URL(publicUrl).hostname])])
  return {
    areIn(host) {
      const name = hostnameOf(host ?? '')
      if (name === '') return false
      return (
        own.has(name) ||
        name === 'localhost' ||
        name.endsWith('.localhost') ||
        isIP(name.replace(/^\[|\]$/g, '')) !== 0
      )
    },
  }
}

/** Refuses requests under a foreign name. */
export function refuseForeignHost(names: OwnNames): Middleware {
  return async (context, next) => {
    if (!names.areIn(context.get('host'))) throw new Fault('foreign_host')
    await next()
  }
}

/** Whether a socket may be opened: under a name of ours and, where a browser says which page opens it, by a page of ours. */
export function mayOpenSocket(names: OwnNames, { headers: { host, origin } }: IncomingMessage): boolean {
  if (!names.areIn(host)) return false
  return origin === undefined || (URL.canParse(origin) && names.areIn(new URL(origin).host))
}

function hostnameOf(host: string): string {
  return /^(\[[^\]]*\]|[^:]*)(:\d{1,5})?$/.exec(host.toLowerCase())?.[1] ?? ''
}
