/** Where the product is reached. */
import type { Config } from './config.ts'

/** Where this process finds its own gateway. */
export function ownAddress({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const everywhere = host === '0.0.0.0' || host === '::'
  const name = everywhere || host === 'localhost' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** Where people reach the product. */
export const publicAddress = ({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string =>
  publicUrl ?? `http://localhost:${port}`
