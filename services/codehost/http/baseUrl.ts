/** The address of the code host, as the client of a request sees it. */
import type { Context } from 'koa'
import { Refusal } from '../httpError.ts'

/** `http://localhost:8081` for a request to localhost, `http://127.0.0.1:8081` for a request to that address, and `url` for any other request. */
export function originOf(ctx: Context, url: string): string {
  const asked = ctx.get('Host')
  return isLoopback(hostnameOf(asked)) ? `http://${asked.toLowerCase()}` : url
}

/**
 * Refuses requests for a foreign host name while the code host listens on loopback only. Otherwise another site could let its own name resolve to
 * this machine, and read private pages with the person's session.
 */
export function refuseForeignHost(ctx: Context, listensOn: string): void {
  const asked = hostnameOf(ctx.get('Host'))
  if (isLoopback(listensOn) && !isLoopback(asked)) {
    throw new Refusal(421, 'This code host answers to localhost only.')
  }
}

/**
 * Refuses a form that another site's page sent. `Sec-Fetch-Site` is checked first, because under our referrer policy browsers send `Origin: null`
 * even for our own forms. Programs other than browsers send neither header.
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

/** Whether a host name means this machine, as browsers see it. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)
}
