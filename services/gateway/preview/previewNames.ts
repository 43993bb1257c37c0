/**
 * The host names of previews. Each port of a task has a name of its own, so that browsers keep its pages, cookies and storage apart from the product
 * and from all other previews. For a product at a loopback address, the names are below `localhost` unless the operator has set another host name,
 * since ports of one host name would share cookies.
 */
import { isLoopback } from '#platform/config/checks.ts'

/** A port of a task's sandbox. */
export interface PreviewPlace {
  readonly taskId: string
  readonly port: number
}

export interface PreviewNames {
  /** A sentence that says why previews cannot be opened from this `Host`; `null` when they can. */
  refusal(host: string): string | null
  /** The origin of a preview that is opened from this `Host` of the product. */
  originOf(place: PreviewPlace, host: string): string
  /** Whether this `Host` header names previews, and not the product. */
  isPreview(host: string): boolean
  /** The task and port that this `Host` header names; `undefined` when no preview can have that name. */
  placeOf(host: string): PreviewPlace | undefined
  /** The origin, as the browser sees it, of a preview that was requested with this `Host`. */
  ownOrigin(host: string): string
}

interface Addresses {
  /** The address at which people reach the product, if the operator has set it. */
  readonly publicUrl: string | null
  /** The host name below which previews are served; `null` when the operator named none. */
  readonly previewHost: string | null
}

const label = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})-([1-9]\d{0,4})$/

export function previewNames({ publicUrl, previewHost }: Addresses): PreviewNames {
  const address = publicUrl === null ? null : new URL(publicUrl)
  const isLocal = previewHost === null && (address === null || isLoopback(address.hostname))
  const parent = previewHost ?? (isLocal ? 'localhost' : null)
  const protocol = address?.protocol ?? 'http:'
  /** The part of a host name in front of `.${parent}`; `undefined` when the host is not below `parent`. */
  const below = (host: string): string | undefined => {
    const name = host.toLowerCase().replace(/:\d*$/, '')
    return parent !== null && name.endsWith(`.${parent}`) ? name.slice(0, -parent.length - 1) : undefined
  }
  return {
    refusal(host) {
      if (parent === null)
        return 'Previews need an address of their own. The operator of this server can set one with PREVIEW_HOST.'
      if (isLocal && !isLoopback(hostnameOf(host)))
        return 'Previews can only be opened on the machine of this server, at localhost. Its operator can set PUBLIC_URL and PREVIEW_HOST for others.'
      return null
    },
    originOf({ taskId, port }, host) {
      const shown = isLocal ? portOf(host) : portOf(address?.host ?? '')
      return `${protocol}//${taskId}-${port}.${parent}${shown}`
    },
    isPreview: (host) => below(host) !== undefined,
    placeOf(host) {
      const [, taskId, port] = label.exec(below(host) ?? '') ?? []
      return taskId === undefined || Number(port) > 65_535 ? undefined : { taskId, port: Number(port) }
    },
    ownOrigin: (host) => `${protocol}//${host.toLowerCase()}`,
  }
}

const portOf = (host: string): string => /:\d+$/.exec(host)?.[0] ?? ''
const hostnameOf = (host: string): string => host.replace(/:\d+$/, '')
