/** A browser at the local code host, with what pages without scripts need: a session, and forms of the site itself. */
import type { LocalCodeHost } from './codeHost.fixture.ts'

export interface Browser {
  get(path: string): Promise<Response>
  /** Sends a form as a page of the site would, and follows no redirect. */
  submit(
    path: string,
    fields: Readonly<Record<string, string>> | readonly [string, string][],
  ): Promise<Response>
  /** Sends a form as a page of another site would. */
  submitFromElsewhere(path: string, fields: Readonly<Record<string, string>>): Promise<Response>
}

/** A browser with a session of `login`; `null`: a browser without a session. */
export async function browserOf({ url }: Pick<LocalCodeHost, 'url'>, login: string | null): Promise<Browser> {
  const cookie = login === null ? '' : await signedIn(url, login)
  const post = (path: string, fields: URLSearchParams, site: string) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, 'sec-fetch-site': site },
      body: fields,
    })
  return {
    get: (path) => fetch(`${url}${path}`, { redirect: 'manual', headers: { cookie } }),
    submit: (path, fields) => post(path, fieldsOf(fields), 'same-origin'),
    submitFromElsewhere: (path, fields) => post(path, fieldsOf(fields), 'cross-site'),
  }
}

const fieldsOf = (fields: Readonly<Record<string, string>> | readonly [string, string][]): URLSearchParams =>
  new URLSearchParams(Array.isArray(fields) ? fields : Object.entries(fields))

async function signedIn(url: string, login: string): Promise<string> {
  const answer = await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ login }),
  })
  const [cookie] = (answer.headers.get('set-cookie') ?? '').split(';')
  if (!cookie) throw new Error(`${login} could not sign in`)
  return cookie
}

/** The address to which an answer redirects the browser. */
export function placeOf(answer: Response, base: string): URL {
  const place = answer.headers.get('location')
  if (answer.status !== 303 || place === null) throw new Error(`not sent on: ${answer.status}`)
  return new URL(place, base)
}
