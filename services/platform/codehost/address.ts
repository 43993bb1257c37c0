/** Addresses of a code host: the valid names in them, and the repository that they refer to. */
import { CodeHostFault, type RepositoryName } from '#platform/ports/codeHost.ts'

export const isLoopback = (hostname: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)

const ownerPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$/
const namePattern = /^(?!\.{1,2}$|-)[A-Za-z0-9._-]{1,100}$/

/** The repository with this owner and name; `undefined` when the owner or the name is not valid at a code host. */
export function nameOf(owner: string, name: string): RepositoryName | undefined {
  return ownerPattern.test(owner) && namePattern.test(name) ? { owner, name } : undefined
}

/** Checks the name of a repository. Throws CodeHostFault `not_found` for an invalid name, which could direct a request to another address. */
export function checkedName({ owner, name }: RepositoryName): RepositoryName {
  const checked = nameOf(owner, name)
  if (!checked) throw new CodeHostFault('not_found', 'There is no repository with this name.')
  return checked
}

/** Owner and name from the address of a page or of a git remote, if it is on the host of `serverUrl`; loopback names count as one host. */
export function repositoryOf(text: string, serverUrl: string): RepositoryName | undefined {
  const server = new URL(serverUrl)
  const address = addressOf(text.trim())
  if (!address || !isSameHost(address.host, server)) return undefined
  const [, owner = '', name = ''] = /^\/?([^/]+)\/([^/]+?)(?:\.git)?\/*$/.exec(address.path) ?? []
  return nameOf(owner, name)
}

interface Address {
  /** `port` is empty for the default port, and `undefined` for ssh, where any port matches. */
  readonly host: { readonly name: string; readonly port: string | undefined }
  readonly path: string
}

function addressOf(text: string): Address | undefined {
  const [, scpHost, scpPath] = /^git@([\w.-]+):(?!\/\/)(.+)$/.exec(text) ?? []
  if (scpHost !== undefined && scpPath !== undefined) {
    return { host: { name: scpHost, port: undefined }, path: scpPath }
  }
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.protocol === 'ssh:') {
    return url.password === ''
      ? { host: { name: url.hostname, port: undefined }, path: url.pathname }
      : undefined
  }
  // An address with a password or token in it is refused rather than stored.
  const isPage = /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  return isPage ? { host: { name: url.hostname, port: url.port }, path: url.pathname } : undefined
}

function isSameHost(host: Address['host'], server: URL): boolean {
  const sameName = host.name === server.hostname || (isLoopback(host.name) && isLoopback(server.hostname))
  return sameName && (host.port === undefined || host.port === server.port)
}

/** Moves `address` to the origin of `serverUrl` when both are on loopback, so that all pages of the code host have one origin for the browser. */
export function onServer(address: string, serverUrl: string): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  const server = new URL(serverUrl)
  if (!isLoopback(url.hostname) || !isLoopback(server.hostname)) return address
  return `${server.origin}${url.pathname}${url.search}`
}

/** The server's address for the person's browser. A server on loopback gets the loopback name that the browser itself uses. */
export function serverForBrowser(serverUrl: string, origin: string): string {
  const server = new URL(serverUrl)
  const browser = URL.canParse(origin) ? new URL(origin) : undefined
  if (browser && isLoopback(browser.hostname) && isLoopback(server.hostname))
    server.hostname = browser.hostname
  return trimmed(server.toString())
}

export const trimmed = (url: string): string => url.replace(/\/+$/, '')
