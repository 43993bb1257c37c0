/** Addresses of the product and of its code host. */
import type { CodeHostConfig } from './codeHost.ts'
import { isLoopback } from './checks.ts'
import type { Config } from './config.ts'

export function ownAddress({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const everywhere = host === '0.0.0.0' || host === '::'
  const name = everywhere || host === 'localhost' ? '127.0.0.1' : host
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
export function codeHostAddresses(config: Pick<Config, 'codeHostPort'>, codeHost: CodeHostConfig) {
  if (codeHost.kind === 'github') return { serverUrl: codeHost.serverUrl, apiUrl: codeHost.apiUrl }
  return {
    serverUrl: `http://localhost:${config.codeHostPort}`,
    apiUrl: `http://127.0.0.1:${config.codeHostPort}/api/v3`,
  }
}

/** The domain of the email addresses by which the code host attributes commits to accounts. */
export function noreplyDomainOf(config: Pick<Config, 'codeHostPort' | 'codeHost'>): string {
  const { serverUrl } = codeHostAddresses(config, config.codeHost)
  return `users.noreply.${new URL(serverUrl).hostname}`
}
