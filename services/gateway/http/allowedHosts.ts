/** Which names we answer to. Pure. */
import { isIP } from 'node:net'

export interface Names {
  /** Where people reach us, where the operator says so. */
  readonly publicUrl: string | null
  /** What we listen on. */
  readonly host: string
}

/**
 * Whether a `Host` header names us: by the public address, by what we listen on, by a name of loopback, or by any address in numbers, which
 * nobody elsewhere can have resolve to us.
 */
export function isOurHost(asked: string, { publicUrl, host }: Names): boolean {
  const name = hostnameOf(asked)
  if (name === undefined) return false
  return (
    isLoopbackName(name) ||
    isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 ||
    name === host.toLowerCase() ||
    (publicUrl !== null && name === new URL(publicUrl).hostname)
  )
}

/** Whether a page of `origin` is ours, for one that asks under the name `asked`. */
export function isOurOrigin(origin: string, asked: string, { publicUrl }: Pick<Names, 'publicUrl'>): boolean {
  if (!URL.canParse(origin)) return false
  const from = new URL(origin)
  if (publicUrl !== null && from.origin === new URL(publicUrl).origin) return true
  // The page may be served from another port of the same machine while it is developed.
  const bothHere = isLoopbackName(from.hostname) && isLoopbackName(hostnameOf(asked) ?? '')
  return bothHere || from.host === asked.toLowerCase()
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name)
}

/** Without its port; `undefined` for what is no host. */
function hostnameOf(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^\s:@/?#\\,]+)(?::\d{1,5})?$/.exec(host.toLowerCase())?.[1]?.replace(/\.$/, '')
}
