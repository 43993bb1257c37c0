/** Which code host the variables name, and the App that we are there. */
import { createPrivateKey } from 'node:crypto'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import type { Variables } from './variables.ts'

export type CodeHostConfig =
  | { readonly kind: 'local' }
  | {
      readonly kind: 'github'
      readonly serverUrl: string
      readonly apiUrl: string
      /** The App that the variables name; `null` where `/setup` makes it. */
      readonly app: AppRegistration | null
    }

/** Whether the code host is GitHub: said by name, or by naming an App there. */
export function isGitHubNamed(values: Variables): boolean {
  if (values.CODE_HOST !== undefined) return values.CODE_HOST === 'github'
  return namesOfApp.some((name) => values[name] !== undefined)
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
    return { kind: 'local' }
  }
  const serverUrl = values.GITHUB_SERVER_URL?.replace(/\/+$/, '')
  const apiUrl = values.GITHUB_API_URL?.replace(/\/+$/, '') ?? apiOf(serverUrl)
  return { kind: 'github', serverUrl, apiUrl, app: appOf(values, faults) }
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
