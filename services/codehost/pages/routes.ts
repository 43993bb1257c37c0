/** The routes of the pages for people. Public repositories can be seen without sign-in. */
import { Router } from '@koa/router'
import type { Context } from 'koa'
import { z } from 'zod'
import { ownerOf, personOf, type Account, type Owner } from '../state/accounts.ts'
import { mayRead } from '../state/permissions.ts'
import type { Host } from '../host.ts'
import { originOf, refuseForeignForm } from '../http/origin.ts'
import { browsingAs, readable, rememberBrowser } from '../http/authenticate.ts'
import { notFound, Refusal } from '../httpError.ts'
import type { PullRequest } from '../state/stateSchema.ts'
import { html } from '#platform/http/html.ts'
import { show } from './layout.ts'
import { readDiff } from '../git/diffLines.ts'
import {
  homePage,
  pullPage,
  repositoryPage,
  stateChanges,
  type MergeOffer,
  type StateChange,
} from './repositoryPages.ts'
import { pageRequest, numberOf, type PageRequest, type PageContext } from './conversation/pageRequest.ts'
import { issuePages } from './conversation/issuePages.ts'
import { conversation, conversationRoutes } from './conversation/pullRequestConversation.ts'
import { loginPage, refusalPage } from './signIn.ts'

const diffLimit = 1024 * 1024
/** The maximum number of diff lines that a page shows. */
const mostLines = 20_000

const Login = z.object({ login: z.string(), return_to: z.string().optional() })
const Commented = z.object({
  path: z.string(),
  side: z.enum(['LEFT', 'RIGHT']),
  line: z.coerce.number().int().positive(),
})
const Merge = z.object({ sha: z.string().optional() })

export function pageRoutes(host: Host): Router {
  const router = new Router()
  router.get('/', (ctx) => {
    const viewer = browsingAs(ctx, host)
    const seen = host.store.current().repositories.filter((one) => mayRead(viewer, one))
    const sorted = seen.sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1))
    show(ctx, 200, { title: 'Local code host', bar: bar(ctx, viewer), content: homePage(sorted) })
  })
  // Browsers request an icon with every page.
  router.get('/favicon.ico', (ctx) => {
    ctx.status = 204
  })
  router.get('/avatars/:login', (ctx) => {
    const owner = ownerOf(ctx.params['login'] ?? '')
    if (!owner) throw notFound()
    ctx.type = 'image/svg+xml'
    ctx.set('Cache-Control', 'public, max-age=3600')
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
    ctx.body = avatar(owner)
  })
  router.get('/login', (ctx) => showLogin(ctx, 200, returnPath(ctx.query['return_to']), undefined))
  router.post('/login', (ctx) => login(ctx, host))
  conversationRoutes(router, host)
  issuePages(router, host)
  router.get('/:owner/:repo', (ctx) => showRepository(ctx, host))
  router.get('/:owner/:repo/pull/:number', async (ctx) => {
    await showPull(ctx, host, askedPull(ctx, host), 200, undefined)
  })
  router.post('/:owner/:repo/pull/:number/merge', (ctx) => merge(ctx, host))
  for (const change of stateChanges)
    router.post(`/:owner/:repo/pull/:number/${change}`, (ctx) => changeState(ctx, host, change))
  return router
}

/** Shows the page for a refused request. A page that is not found may be private, so the person can sign in. */
export function showRefusal(ctx: Context, refusal: Refusal): void {
  const missing = refusal.status === 404 && refusal.message === notFound().message
  const here = `/login?return_to=${encodeURIComponent(ctx.url)}`
  show(ctx, refusal.status, {
    title: missing ? 'Not found' : 'Refused',
    bar: 'none',
    content: refusalPage({
      title: missing ? 'There is no such page' : 'This cannot be done',
      sentence: missing ? 'It may be private and not visible to your account.' : refusal.message,
      hint: missing ? html`<p><a class="button" href="${here}">Sign in</a></p>` : undefined,
    }),
  })
}

const bar = (ctx: Context, viewer: Account | undefined) => ({ login: viewer?.login, returnTo: ctx.url })

/** The path to which the browser returns. If `asked` is not a path on this site, it is `/`, so that nobody is led to another site. */
const returnPath = (asked: unknown): string =>
  typeof asked === 'string' && /^\/(?![/\\])[\w\-./~%?=&+]*$/.test(asked) ? asked : '/'

function showLogin(ctx: Context, status: number, returnTo: string, error: string | undefined): void {
  show(ctx, status, { title: 'Sign in', bar: 'none', content: loginPage({ error, returnTo }) })
}

async function login(ctx: Context, host: Host): Promise<void> {
  refuseForeignForm(ctx, originOf(ctx, host.url))
  const form = Login.safeParse(ctx.request.body)
  const account = form.success ? personOf(form.data.login) : undefined
  const returnTo = returnPath(form.data?.return_to)
  if (!account) return showLogin(ctx, 400, returnTo, 'There is no such account here.')
  await rememberBrowser(ctx, host, account)
  ctx.status = 303
  ctx.redirect(returnTo)
}

async function showRepository(ctx: PageContext, host: Host): Promise<void> {
  const name = ctx.params['repo'] ?? ''
  if (name.endsWith('.git')) return ctx.redirect(`/${ctx.params['owner']}/${name.slice(0, -'.git'.length)}`)
  const viewer = browsingAs(ctx, host)
  const repository = readable(host, viewer, ctx.params['owner'], name)
  const branches = [...(await host.repositories.bare(repository).branches()).keys()]
  const origin = originOf(ctx, host.url)
  show(ctx, 200, {
    title: `${repository.owner}/${repository.name}`,
    bar: bar(ctx, viewer),
    content: repositoryPage({
      repository,
      branches: branches.sort((one) => (one === repository.defaultBranch ? -1 : 0)),
      pulls: host.pulls.of(repository).filter((pull) => pull.closedAt === null),
      cloneUrl: `${origin}/${repository.owner}/${repository.name}.git`,
    }),
  })
}

type AskedPull = PageRequest & { readonly pull: PullRequest }

function askedPull(ctx: PageContext, host: Host): AskedPull {
  const all = pageRequest(ctx, host)
  return { ...all, pull: host.pulls.get(all.repository, numberOf(ctx)) }
}

async function showPull(
  ctx: PageContext,
  host: Host,
  about: AskedPull,
  status: number,
  refused: string | undefined,
): Promise<void> {
  const { repository, pull } = about
  const bare = host.repositories.bare(repository)
  const { baseSha: base, headSha: head } = pull
  const [figures, diff] = await Promise.all([
    host.pulls.figures(repository, pull),
    bare.diff(base, head, diffLimit),
  ])
  const { files, truncated } = readDiff(diff.text, mostLines)
  show(ctx, status, {
    title: `${pull.title} #${pull.number}`,
    bar: bar(ctx, about.viewer),
    content: pullPage({
      repository,
      pull,
      figures,
      diff: { files, truncated: truncated || diff.truncated },
      refused,
      conversation: await conversation(host, about, pull),
      facts: host.extension.pullFacts?.(repository, pull),
      commented: Commented.safeParse(ctx.query).data,
      mayChange: about.mayPush,
      merge: mergeOffer(about, figures.mergeable),
    }),
  })
}

function mergeOffer({ repository, pull, mayPush }: AskedPull, mergeable: boolean | null): MergeOffer {
  if (!mayPush) return { kind: 'not', why: `Only people who can push to ${repository.owner} can merge.` }
  if (pull.draft) return { kind: 'not', why: 'This pull request is still a draft.' }
  if (mergeable === false) {
    return { kind: 'not', why: `It conflicts with ${pull.base}: bring ${pull.base} into ${pull.head} first.` }
  }
  return { kind: 'offered' }
}

function merge(ctx: PageContext, host: Host): Promise<void> {
  const form = Merge.safeParse(ctx.request.body)
  return changePull(ctx, host, 'merge', ({ repository, pull }, by) =>
    host.pulls.merge(repository, pull.number, by, { method: 'merge', expectedHead: form.data?.sha }),
  )
}

function changeState(ctx: PageContext, host: Host, change: StateChange): Promise<void> {
  return changePull(ctx, host, 'change this', ({ repository, pull: { number } }, by) => {
    switch (change) {
      case 'close':
        return host.pulls.edit(repository, number, by, { state: 'closed' })
      case 'reopen':
        return host.pulls.edit(repository, number, by, { state: 'open' })
      case 'draft':
      case 'ready':
        return host.pulls.setDraft(repository, number, by, change === 'draft')
    }
  })
}

/** Changes a pull request and shows it again, with the reason if the change was refused. */
async function changePull(
  ctx: PageContext,
  host: Host,
  what: string,
  change: (about: AskedPull, by: Account) => Promise<unknown>,
): Promise<void> {
  refuseForeignForm(ctx, originOf(ctx, host.url))
  const about = askedPull(ctx, host)
  const { repository, pull } = about
  if (!about.mayPush) throw new Refusal(403, `Only people who can push to ${repository.owner} can ${what}.`)
  try {
    await change(about, about.speaker)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const now = host.pulls.get(repository, pull.number)
    const status = error.status === 405 ? 409 : error.status
    return showPull(ctx, host, { ...about, pull: now }, status, error.message)
  }
  ctx.status = 303
  ctx.redirect(`/${repository.owner}/${repository.name}/pull/${pull.number}`)
}

/** The background colours of avatars. */
const colours = ['#4a45c9', '#0a6670', '#8a4600']

/** An avatar with the initials of a person or an organisation, as an SVG of 96 pixels. */
function avatar(owner: Owner): string {
  const initials = owner.name
    .split(' ')
    .map((word) => word.charAt(0))
    .join('')
    .slice(0, 2)
  const text = html`<svg
    xmlns="http://www.w3.org/2000/svg"
    width="96"
    height="96"
    viewBox="0 0 96 96"
    role="img"
    aria-label="${owner.name}"
  >
    <rect width="96" height="96" fill="${colours[owner.id % colours.length]}" />
    <text
      x="48"
      y="60"
      text-anchor="middle"
      font-family="ui-sans-serif,system-ui,sans-serif"
      font-size="36"
      font-weight="600"
      fill="#fff"
    >
      ${initials}
    </text>
  </svg>`
  return text.html
}
