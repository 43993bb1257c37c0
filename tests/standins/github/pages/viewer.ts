/** Who views the pages about Apps, and whose settings they may change. */
import type { Context } from 'koa'
import {
  organizationOf,
  sameName,
  type Account,
  type Owner,
} from '../../../../services/codehost/state/accounts.ts'
import { browsingAs } from '../../../../services/codehost/http/authenticate.ts'
import { originOf, refuseForeignForm } from '../../../../services/codehost/http/origin.ts'
import { notFound } from '../../../../services/codehost/httpError.ts'
import type { GitHubHost } from '../host.ts'

export type PageContext = Context & { params: Record<string, string> }

/** The person of this browser. Without a session the browser is sent to sign in, and the content of a form is lost, as on GitHub. */
export function viewerOrSignIn(ctx: PageContext, host: GitHubHost): Account | undefined {
  const viewer = browsingAs(ctx, host)
  if (viewer) return viewer
  ctx.status = 303
  ctx.redirect(`/login?return_to=${encodeURIComponent(ctx.url)}`)
  return undefined
}

/** The sender of one of our own forms, like `viewerOrSignIn`. Throws Refusal 403 for a form that another site sent. */
export function senderOrSignIn(ctx: PageContext, host: GitHubHost): Account | undefined {
  refuseForeignForm(ctx, originOf(ctx, host.url))
  return viewerOrSignIn(ctx, host)
}

/** Whether the person may change the account's settings. */
export const owns = (viewer: Account, account: Owner): boolean =>
  account.type === 'Organization'
    ? account.owners.includes(viewer.login)
    : sameName(account.login, viewer.login)

/** The account whose settings an address is about: the organisation in the address, or the person. Throws Refusal 404. */
export function settingsOwner(ctx: PageContext, viewer: Account): Owner {
  const { org } = ctx.params
  if (org === undefined) return viewer
  const organization = organizationOf(org)
  if (!organization || !owns(viewer, organization)) throw notFound()
  return organization
}

/** The address at which the settings of an account begin. */
export const settingsPath = (account: Owner): string =>
  account.type === 'Organization' ? `/organizations/${account.login}/settings` : '/settings'

export const barOf = (ctx: Context, viewer: Account | undefined) => ({
  login: viewer?.login,
  returnTo: ctx.method === 'GET' ? ctx.url : '/',
})

/** Redirects the browser after a form. */
export function seeOther(ctx: Context, address: string): void {
  ctx.status = 303
  ctx.redirect(address)
}
