/** The configured code host, and our App there. */
import { createPrivateKey } from 'node:crypto'
import { tokenKindOf } from '#domain/codeHostToken.ts'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import { reachedBy } from './checks.ts'
import type { Variables } from './variables.ts'

export type CodeHostConfig =
  | { readonly kind: 'local' }
  | {
      readonly kind: 'github'
      readonly serverUrl: string
      readonly apiUrl: string
      /** The configured App; `null` when it is created at `/setup`, or when `token` replaces it. */
      readonly app: AppRegistration | null
      /** In single-user mode: the token of the only person. It replaces the App. */
      readonly token?: string
    }

/** Whether the code host is GitHub: named explicitly, or by configuring an App there. */
export function isGitHubNamed(values: Variables): boolean {
  if (values.CODE_HOST !== undefined) return values.CODE_HOST === 'github'
  // GITHUB_TOKEN does not count: many shells have it set for other programs.
  return isAppNamed(values)
}

const isAppNamed = (values: Variables): boolean => namesOfApp.some((name) => values[name] !== undefined)

/**
 * Whether `GITHUB_TOKEN` is set but unused. It is unused with an App, through which people sign in, and with the local code host, which has its own
 * tokens.
 */
export function isTokenUnused(values: Variables): boolean {
  return values.GITHUB_TOKEN !== undefined && (isAppNamed(values) || !isGitHubNamed(values))
}

const namesOfApp = [
  'GITHUB_CLIENT_ID',
  'GITHUB_CLIENT_SECRET',
  'GITHUB_APP_ID',
  'GITHUB_APP_PRIVATE_KEY',
] as const

/** The code host's configuration; faults are added to `faults`, each a sentence that begins with a variable's name. */
export function codeHostOf(values: Variables, faults: string[]): CodeHostConfig {
  if (!isGitHubNamed(values)) {
    for (const name of namesOfApp)
      if (values[name] !== undefined)
        faults.push(`${name}: has no effect with CODE_HOST=local; leave one out.`)
    return { kind: 'local' }
  }
  const serverUrl = values.GITHUB_SERVER_URL?.replace(/\/+$/, '')
  const apiUrl = values.GITHUB_API_URL?.replace(/\/+$/, '') ?? apiOf(serverUrl)
  const app = appOf(values, faults)
  const { GITHUB_TOKEN: token } = values
  if (token === undefined || isTokenUnused(values)) return { kind: 'github', serverUrl, apiUrl, app }
  faults.push(...tokenFaults(token, values))
  return { kind: 'github', serverUrl, apiUrl, app, token }
}

/** Faults about `GITHUB_TOKEN`. Everybody who can reach the server acts with the token, so only this machine may reach it. */
function tokenFaults(token: string, values: Variables): readonly string[] {
  const reached = reachedBy(values)
  return [
    ...(reached === undefined
      ? []
      : [
          `GITHUB_TOKEN: works only where no other machine can reach this server, because everybody who can would act as its owner; ${reached}. Leave HOST and PUBLIC_URL on a loopback address, or make a GitHub App (CODE_HOST=github without GITHUB_TOKEN).`,
        ]),
    ...(tokenKindOf(token) === 'installation'
      ? [
          'GITHUB_TOKEN: is a token of an App (ghs_...), which acts for no person. Use a personal access token.',
        ]
      : []),
  ]
}

/** The base URL of a host's REST API: https://docs.github.com/en/enterprise-server/rest/quickstart */
function apiOf(serverUrl: string | undefined): string {
  if (serverUrl === undefined || !URL.canParse(serverUrl)) return ''
  const { hostname, origin } = new URL(serverUrl)
  if (hostname === 'github.com') return 'https://api.github.com'
  return hostname.endsWith('.ghe.com') ? `https://api.${hostname}` : `${origin}/api/v3`
}

function appOf(values: Variables, faults: string[]): AppRegistration | null {
  const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret, GITHUB_APP_ID: appId } = values
  const { GITHUB_APP_PRIVATE_KEY: privateKey, GITHUB_APP_SLUG: slug = 'flightdeck' } = values
  if (namesOfApp.every((name) => values[name] === undefined)) return null
  if (clientId === undefined) faults.push('GITHUB_CLIENT_ID: is required with GITHUB_CLIENT_SECRET.')
  if (clientSecret === undefined) faults.push('GITHUB_CLIENT_SECRET: is required with GITHUB_CLIENT_ID.')
  if (privateKey !== undefined && appId === undefined)
    faults.push('GITHUB_APP_ID: is required with GITHUB_APP_PRIVATE_KEY.')
  if (privateKey === undefined && appId !== undefined)
    faults.push('GITHUB_APP_PRIVATE_KEY: is required with GITHUB_APP_ID.')
  if (privateKey !== undefined && !isPrivateKey(privateKey))
    faults.push('GITHUB_APP_PRIVATE_KEY: is not the private key of an App, which begins with -----BEGIN.')
  return {
    appId: appId ?? null,
    slug,
    name: slug,
    htmlUrl: null,
    clientId: clientId ?? '',
    clientSecret: clientSecret ?? '',
    privateKey: privateKey ?? null,
    webhookSecret: values.GITHUB_WEBHOOK_SECRET ?? null,
  }
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}
