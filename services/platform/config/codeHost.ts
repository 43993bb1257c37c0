/** Which code host the variables name, and the App that we are there. */
import { createPrivateKey } from 'node:crypto'
import { tokenKindOf } from '#domain/codeHostToken.ts'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import { reachedBy } from './checks.ts'
import type { Variables } from './variables.ts'

export type CodeHostConfig =
  | {
      readonly kind: 'local'
      /** Whether Flightdeck is registered there as an App, and installed by every account. */
      readonly app: Variables['CODEHOST_APP']
    }
  | {
      readonly kind: 'github'
      readonly serverUrl: string
      readonly apiUrl: string
      /** The App that the variables name; `null` where `/setup` makes it. */
      readonly app: AppRegistration | null
      /** Single-user mode: the one person's own token, in place of an App. */
      readonly token?: string
    }

/** Whether the code host is GitHub: said by name, or by naming an App there. */
export function isGitHubNamed(values: Variables): boolean {
  if (values.CODE_HOST !== undefined) return values.CODE_HOST === 'github'
  // Not by GITHUB_TOKEN: many shells carry one for other programs.
  return isAppNamed(values)
}

const isAppNamed = (values: Variables): boolean => namesOfApp.some((name) => values[name] !== undefined)

/** Whether there is a token that is not used: where an App is named, people sign in with it; and the local code host gives its own. */
export function isTokenUnused(values: Variables): boolean {
  return values.GITHUB_TOKEN !== undefined && (isAppNamed(values) || !isGitHubNamed(values))
}

const namesOfApp = [
  'GITHUB_CLIENT_ID',
  'GITHUB_CLIENT_SECRET',
  'GITHUB_APP_ID',
  'GITHUB_APP_PRIVATE_KEY',
] as const

/** The code host; faults go into `faults`, a sentence each that begins with its variable. */
export function codeHostOf(values: Variables, faults: string[]): CodeHostConfig {
  if (!isGitHubNamed(values)) {
    for (const name of namesOfApp)
      if (values[name] !== undefined)
        faults.push(`${name}: has no effect with CODE_HOST=local; leave one out.`)
    return { kind: 'local', app: values.CODEHOST_APP }
  }
  const serverUrl = values.GITHUB_SERVER_URL?.replace(/\/+$/, '')
  const apiUrl = values.GITHUB_API_URL?.replace(/\/+$/, '') ?? apiOf(serverUrl)
  const app = appOf(values, faults)
  const { GITHUB_TOKEN: token } = values
  if (token === undefined || isTokenUnused(values)) return { kind: 'github', serverUrl, apiUrl, app }
  faults.push(...tokenFaults(token, values))
  return { kind: 'github', serverUrl, apiUrl, app, token }
}

/** Whoever reaches the server acts with the token: so only its own machine may reach it. */
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

/** Where a host's REST interface is: https://docs.github.com/en/enterprise-server/rest/quickstart */
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
