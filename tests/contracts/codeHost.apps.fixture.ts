/** Helpers for tests of Apps at the local code host: the App's own token, and requests with any token. */
import { createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import type { LocalCodeHost } from './codeHost.fixture.ts'

/** A token of the App itself, as a library would sign it; `claims` replace the correct ones. */
export function appToken(
  { app }: Pick<LocalCodeHost, 'app'>,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  if (!app) throw new Error('No App is registered at this host.')
  return signedBy(app.privateKey, { iss: app.clientId, ...claims })
}

/** A token like `appToken`, signed with any key. */
export function signedBy(
  privateKey: string,
  claims: Readonly<Record<string, unknown>>,
  alg: 'RS256' | 'RS512' = 'RS256',
): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({ iat: now - 30, exp: now + 540, ...claims })
    .setProtectedHeader({ alg, typ: 'JWT' })
    .sign(createPrivateKey(privateKey))
}

export interface Answered {
  readonly status: number
  readonly json: unknown
  readonly headers: Headers
}

/** Sends a request to the REST API; `token` may be of any kind. */
export async function askRest(
  api: string,
  [method, path]: readonly [method: string, path: string],
  {
    token,
    body,
    headers,
  }: { readonly token?: string; readonly body?: unknown; readonly headers?: Record<string, string> } = {},
): Promise<Answered> {
  const response = await fetch(`${api}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json: unknown = text === '' ? undefined : JSON.parse(text)
  return { status: response.status, json, headers: response.headers }
}
