/** The local code host of this process. */
import { join } from 'node:path'
import { webhookPath } from '#domain/api/server.ts'
import { ownAddress } from '#platform/config/addresses.ts'
import type { Config } from '#platform/config/config.ts'
import type { LocalCredentials } from '#platform/credentials/hostApp.ts'
import type { Logger } from '#platform/log.ts'
import type { RunningCodeHost } from './codehost/codehost.ts'

/** Begins to start the code host. `stop` waits for the start, and does not throw if the start failed. */
export function beginCodeHost(...given: Parameters<typeof start>) {
  const started = start(...given)
  // Handles a failure that comes before `started` is awaited.
  const settled = started.catch(() => undefined)
  return { started, stop: async () => (await settled)?.stop() }
}

async function start(
  config: Config,
  repos: readonly string[],
  logger: Logger,
  { webhookSecret, ...credentials }: LocalCredentials,
): Promise<RunningCodeHost> {
  const { startCodeHost } = await import('./codehost/codehost.ts')
  return startCodeHost({
    ...credentials,
    dataDir: join(config.dataDir, 'codehost'),
    host: config.codeHostHost,
    port: config.codeHostPort,
    ...(config.publicUrl === null
      ? {}
      : { redirectUris: [new URL('/api/auth/github/callback', config.publicUrl).href] }),
    ...(config.services.has('gateway')
      ? { hook: { url: ownAddress(config) + webhookPath, secret: webhookSecret } }
      : {}),
    seeds: repos.map((source) => ({ source })),
    environment: config.environment,
    log: (line) => logger.info(line),
  })
}
