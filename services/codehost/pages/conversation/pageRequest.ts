/** Reads requests for the pages of issues and pull requests, and answers their forms. */
import type { Context } from 'koa'
import { organizationOf, personOf, type Account } from '../../state/accounts.ts'
import { mayPush, mayTriage } from '../../state/permissions.ts'
import type { Actor } from '../../state/actors.ts'
import { browsingAs, readable } from '../../http/authenticate.ts'
import { originOf, refuseForeignForm } from '../../http/origin.ts'
import { notFound, Refusal } from '../../httpError.ts'
import type { Host } from '../../host.ts'
import type { Repository } from '../../state/stateSchema.ts'

export type PageContext = Context & { params: Record<string, string> }

/** The repository of a page, the account that looks at the page, and the account that would write comments. */
export interface PageRequest {
  readonly repository: Repository
  readonly viewer: Account | undefined
  /**
   * The account that writes comments. Without sign-in this is the owner or, for an organisation, its first owner: there are no passwords, so anybody
   * could sign in as the owner anyway.
   */
  readonly speaker: Account
  readonly mayPush: boolean
  readonly mayTriage: boolean
}

/** Returns the repository and the accounts of a page. Throws Refusal 404. */
export function pageRequest(ctx: PageContext, host: Host): PageRequest {
  const viewer = browsingAs(ctx, host)
  const repository = readable(host, viewer, ctx.params['owner'], ctx.params['repo'])
  const owner = personOf(repository.owner) ?? personOf(organizationOf(repository.owner)?.owners[0] ?? '')
  const speaker = viewer ?? owner
  if (!speaker) throw notFound()
  return {
    repository,
    viewer,
    speaker,
    mayPush: mayPush(speaker, repository),
    mayTriage: mayTriage(speaker, repository),
  }
}

/** Like `pageRequest`, for a form that changes something. Also throws Refusal 403 when another site sent the form. */
export function formRequest(ctx: PageContext, host: Host): PageRequest & { readonly by: Actor } {
  refuseForeignForm(ctx, originOf(ctx, host.url))
  const all = pageRequest(ctx, host)
  return { ...all, by: { account: all.speaker, viaApp: null } }
}

/** The number in the path, of an issue or a pull request by default. Throws Refusal 404. */
export function numberOf(ctx: PageContext, name = 'number'): number {
  const text = ctx.params[name] ?? ''
  if (!/^\d{1,15}$/.test(text)) throw notFound()
  return Number(text)
}

/** Redirects the browser, which then requests `address` with GET even after it has sent a form. */
export function seeOther(ctx: Context, address: string): void {
  ctx.status = 303
  ctx.redirect(address)
}

/** The refusal of an invalid form. */
export const badForm = (sentence: string): Refusal => new Refusal(422, sentence)

export const addressOf = ({ owner, name }: Repository): string => `/${owner}/${name}`

export const barOf = (ctx: Context, viewer: Account | undefined) => ({
  login: viewer?.login,
  returnTo: ctx.path,
})
