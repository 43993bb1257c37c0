/** The address of the code host as the client of a request sees it, and the refusal of cross-site requests. */
import type { Context } from 'koa'
import { Refusal } from '../httpError.ts'

/** The address to which the request was sent, such as `http://localhost:8081`, if this is a loopback address; otherwise `url`. */
export function originOf(ctx: Context, url: string): string {
  const asked = ctx.get('Host')
  return isLoopback(hostnameOf(asked)) ? `http://${asked.toLowerCase()}` : url
}

/**
 * While the code host listens on loopback only, refuses requests to any other host name. Otherwise another site could use DNS rebinding to sign in,
 * which needs no password, and to read private pages.
 */
export function refuseForeignHost(ctx: Context, listensOn: string): void {
  const asked = hostnameOf(ctx.get('Host'))
  if (isLoopback(listensOn) && !isLoopback(asked)) {
    throw new Refusal(421, 'This code host answers to localhost only.')
  }
}

/**
 * Refuses a form that a page of another site sent. `Sec-Fetch-Site` is checked first, because our referrer policy makes browsers send `Origin: null`
 * even with our own forms. Programs other than browsers send neither header.
 */
export function refuseForeignForm(ctx: Context, origin: string): void {
  const site = ctx.get('Sec-Fetch-Site')
  const from = ctx.get('Origin')
  const own = site !== '' ? site === 'same-origin' : from === '' || from === origin
  if (!own) throw new Refusal(403, 'This form was sent from another site.')
}

function hostnameOf(host: string): string {
  return /^(\[[^\]]*\]|[^:]*)(:\d{1,5})?$/.exec(host)?.[1] ?? ''
}

/** Whether browsers treat the host name as a name of this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)
}
