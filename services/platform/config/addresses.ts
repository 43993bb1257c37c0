/** Addresses of the product and of its code host. */
import type { CodeHostConfig } from './codeHost.ts'
import { isLoopback } from './checks.ts'
import type { Config } from './config.ts'

const isEverywhere = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** The address at which this machine reaches what listens on `host`. */
export function ownAddress({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const name = isEverywhere(host) ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

export const publicAddress = ({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string =>
  publicUrl ?? `http://localhost:${port}`

/** The product's address for links in texts at the code host; `null` when readers there could not reach this machine. */
export function addressForCodeHost(config: Pick<Config, 'publicUrl' | 'port' | 'codeHost'>): string | null {
  const { codeHost } = config
  const address = publicAddress(config)
  const isHere = codeHost.kind === 'local' || isLoopback(new URL(codeHost.serverUrl).hostname)
  return isHere || !isLoopback(new URL(address).hostname) ? address : null
}

/** Like `addressForCodeHost`, but also `null` in a process that cannot know the address: one without PUBLIC_URL and without the gateway. */
export const knownAddressForCodeHost = (
  config: Pick<Config, 'publicUrl' | 'port' | 'codeHost' | 'services'>,
): string | null =>
  config.publicUrl !== null || config.services.has('gateway') ? addressForCodeHost(config) : null

/** The addresses of the code host's pages and of its API. */
export function codeHostAddresses(
  { codeHostHost: host, codeHostPort: port }: Pick<Config, 'codeHostHost' | 'codeHostPort'>,
  codeHost: CodeHostConfig,
) {
  if (codeHost.kind === 'github') return { serverUrl: codeHost.serverUrl, apiUrl: codeHost.apiUrl }
  const own = ownAddress({ host, port })
  const isNamed = isLoopback(host) || isEverywhere(host)
  return { serverUrl: isNamed ? `http://localhost:${port}` : own, apiUrl: `${own}/api/v3` }
}

/** The origins of people's pictures. GitHub has a separate host for them; an enterprise server may have a subdomain `avatars`. */
export function pictureOrigins(
  config: Pick<Config, 'codeHost' | 'codeHostHost' | 'codeHostPort'>,
): readonly string[] {
  const { serverUrl } = codeHostAddresses(config, config.codeHost)
  if (config.codeHost.kind === 'local') return [serverUrl]
  const { origin, protocol, host, hostname } = new URL(serverUrl)
  if (hostname === 'github.com') return ['https://avatars.githubusercontent.com']
  return [origin, `${protocol}//avatars.${host}`]
}

/** The domain of the email addresses by which the code host attributes commits to accounts. */
export function noreplyDomainOf({ codeHost }: Pick<Config, 'codeHost'>): string {
  return `users.noreply.${codeHost.kind === 'local' ? 'localhost' : new URL(codeHost.serverUrl).hostname}`
}
