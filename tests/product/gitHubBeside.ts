/** The stand-in for GitHub that a product is started with: it starts and ends with the product, on a port and in a folder that stay the same. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { webhookPath } from '#domain/api/server.ts'
import { startGitHub, type RunningGitHub } from '../standins/github/github.ts'

/** `github`: with an App that every account has installed. `github without an App`: the App must be created at `/setup`. */
export type GitHubKind = 'github' | 'github without an App'

export interface GitHubBeside {
  /** The variables that tell the product about the stand-in and its App. */
  readonly env: Readonly<Record<string, string>>
  /** The running stand-in; throws when it does not run. */
  current(): RunningGitHub
  start(): Promise<void>
  stop(): Promise<void>
}

const clientId = 'Iv1.flightdeck'
/** The number of the first App of a host. */
const appId = '1'
/** The private key of every such App. */
export const { privateKey: appPrivateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

/** A stand-in that is not started yet. */
export function gitHubBeside(
  kind: GitHubKind,
  at: {
    readonly dataDir: string
    readonly port: number
    /** The address of the product. */
    readonly base: string
    readonly repos: readonly string[]
    readonly home: string
  },
): GitHubBeside {
  const [clientSecret, webhookSecret] = [randomBytes(20).toString('hex'), randomBytes(20).toString('hex')]
  const hasApp = kind === 'github'
  let running: RunningGitHub | undefined
  return {
    env: {
      CODE_HOST: 'github',
      GITHUB_SERVER_URL: `http://localhost:${at.port}`,
      GITHUB_API_URL: `http://127.0.0.1:${at.port}/api/v3`,
      ...(hasApp && {
        GITHUB_CLIENT_ID: clientId,
        GITHUB_CLIENT_SECRET: clientSecret,
        GITHUB_APP_ID: appId,
        GITHUB_APP_PRIVATE_KEY: appPrivateKey,
        GITHUB_WEBHOOK_SECRET: webhookSecret,
      }),
    },
    current() {
      if (!running) throw new Error('The stand-in for GitHub does not run.')
      return running
    },
    async start() {
      running = await startGitHub({
        dataDir: at.dataDir,
        host: '127.0.0.1',
        port: at.port,
        app: hasApp ? 'installed' : 'none',
        appPrivateKey,
        clientId,
        clientSecret,
        hook: { url: at.base + webhookPath, secret: webhookSecret },
        seeds: at.repos.map((source) => ({ source })),
        environment: { PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin', HOME: at.home },
        log: () => undefined,
      })
    },
    async stop() {
      const stopping = running
      running = undefined
      await stopping?.stop()
    },
  }
}
