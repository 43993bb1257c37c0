/** Where the code host is, as the one who asks sees it. */
import type { Context } from 'koa'
import { Refusal } from '../httpError.ts'

/** `http://localhost:8081` for who came by localhost, `http://127.0.0.1:8081` for who came by that; `url` for everybody else. */
export function originOf(ctx: Context, url: string): string {
  const asked = ctx.get('Host')
  return isLoopback(hostnameOf(asked)) ? `http://${asked.toLowerCase()}` : url
}

/**
 * Refuses what came under a foreign name while the code host listens on loopback only: a page elsewhere could have had its
 * own name resolve to this machine, and would then read private pages with the person's session.
 */
export function refuseForeignHost(ctx: Context, listensOn: string): void {
  const asked = hostnameOf(ctx.get('Host'))
  if (isLoopback(listensOn) && !isLoopback(asked)) {
    throw new Refusal(421, 'This code host answers to localhost only.')
  }
}

/**
 * Refuses a form that another site's page sent. `Sec-Fetch-Site` first: under our referrer policy the browser sends
 * `Origin: null` even for our own forms. Programs that are no browsers send neither.
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

/** Whether a host name is this machine itself, as browsers see it. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)
}
