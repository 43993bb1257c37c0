/** The pages about Apps: creating one from a manifest, viewing it, changing its permissions, and what people allow it to do. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { ownerOf, type Account, type Owner } from '../../../../services/codehost/state/accounts.ts'
import { appBySlug } from '../apps/apps.ts'
import { readManifest, uncovered, type Manifest } from '../apps/manifest.ts'
import { permissionNames } from '../apps/permissions.ts'
import { browsingAs } from '../../../../services/codehost/http/authenticate.ts'
import { notFound, Refusal } from '../../../../services/codehost/httpError.ts'
import { withParams } from '../../../../services/codehost/oauth.ts'
import type { GitHubHost } from '../host.ts'
import type { App, Permissions } from '../state.ts'
import { withoutGrants } from '../../../../services/codehost/state/tokens.ts'
import { allowFormsTo, show } from '../../../../services/codehost/pages/layout.ts'
import { appPage, authorizationsPage, confirmPage, permissionsPage, refusedManifestPage } from './appHtml.ts'
import {
  barOf,
  seeOther,
  senderOrSignIn,
  settingsOwner,
  settingsPath,
  viewerOrSignIn,
  type PageContext,
} from './viewer.ts'

const Confirmed = z.object({ manifest: z.string(), name: z.string().trim(), state: z.string().optional() })
const Submitted = z.object({ manifest: z.string() })

export function appPages(router: Router, host: GitHubHost): void {
  for (const settings of ['/settings', '/organizations/:org/settings']) {
    router.get(`${settings}/apps/new`, (ctx) => newApp(ctx, host))
    // This form comes from another site, so it only shows the request, and changes nothing.
    router.post(`${settings}/apps/new`, (ctx) => newApp(ctx, host))
    router.post(`${settings}/apps`, (ctx) => registerApp(ctx, host))
    router.get(`${settings}/apps/authorizations`, (ctx) => showAuthorizations(ctx, host))
    router.post(`${settings}/apps/authorizations/:clientId/revoke`, (ctx) => revoke(ctx, host))
    router.get([`${settings}/apps/:slug`, `${settings}/apps/:slug/permissions`], (ctx) =>
      showPermissions(ctx, host),
    )
    router.post(`${settings}/apps/:slug/permissions`, (ctx) => changePermissions(ctx, host))
    router.post(`${settings}/apps/:slug/hook`, (ctx) => changeHook(ctx, host))
  }
  router.get('/apps/:slug', (ctx) => {
    const app = appBySlug(host.github.current(), ctx.params['slug'] ?? '')
    if (!app) throw notFound()
    const viewer = browsingAs(ctx, host)
    show(ctx, 200, { title: app.name, bar: barOf(ctx, viewer), content: appPage(app) })
  })
}

const stateOf = (ctx: PageContext): string | undefined => {
  const { state } = ctx.query
  return typeof state === 'string' ? state.slice(0, 2_000) : undefined
}

function newApp(ctx: PageContext, host: GitHubHost): void {
  const viewer = viewerOrSignIn(ctx, host)
  if (!viewer) return
  const owner = settingsOwner(ctx, viewer)
  const form = Submitted.safeParse(ctx.request.body)
  // A person who had to sign in first returns without the content of the form.
  const read = readManifest(form.success ? form.data.manifest : '{}', host)
  if ('faults' in read) return refuseManifest(ctx, viewer, read.faults)
  confirm(ctx, {
    viewer,
    owner,
    manifest: read.manifest,
    text: form.data?.manifest ?? '',
    state: stateOf(ctx),
  })
}

function refuseManifest(ctx: PageContext, viewer: Account, faults: readonly string[]): void {
  show(ctx, 422, {
    title: 'The App cannot be registered',
    bar: barOf(ctx, viewer),
    content: refusedManifestPage(faults),
  })
}

function confirm(
  ctx: PageContext,
  page: {
    readonly viewer: Account
    readonly owner: Owner
    readonly manifest: Manifest
    readonly text: string
    readonly state: string | undefined
    readonly name?: string
    readonly error?: string
  },
): void {
  const { manifest, owner } = page
  if (manifest.redirect_url !== undefined) allowFormsTo(ctx, manifest.redirect_url)
  show(ctx, page.error === undefined ? 200 : 422, {
    title: 'Register a GitHub App',
    bar: barOf(ctx, page.viewer),
    content: confirmPage({
      action: `${settingsPath(owner)}/apps`,
      owner: owner.login,
      manifest,
      text: page.text,
      state: page.state,
      name: page.name ?? manifest.name ?? '',
      error: page.error,
    }),
  })
}

async function registerApp(ctx: PageContext, host: GitHubHost): Promise<void> {
  const viewer = senderOrSignIn(ctx, host)
  if (!viewer) return
  const owner = settingsOwner(ctx, viewer)
  const form = Confirmed.safeParse(ctx.request.body)
  if (!form.success) return refuseManifest(ctx, viewer, ['Error "url" wasn\'t supplied.'])
  const { manifest: text, name, state } = form.data
  const read = readManifest(text, host)
  if ('faults' in read) return refuseManifest(ctx, viewer, read.faults)
  const { manifest } = read
  try {
    const { app, code } = await host.manifests.register(manifest, { name, owner: owner.login })
    const back = manifest.redirect_url
    seeOther(ctx, back === undefined ? `/apps/${app.slug}` : withParams(new URL(back), { code, state }))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    confirm(ctx, { viewer, owner, manifest, text, state, name, error: error.message })
  }
}

/** The App that the address names, if the person may change its settings. Throws Refusal 404. */
function ownApp(ctx: PageContext, host: GitHubHost, viewer: Account): { app: App; owner: Owner } {
  const app = appBySlug(host.github.current(), ctx.params['slug'] ?? '')
  const owner = settingsOwner(ctx, viewer)
  if (!app || ownerOf(app.owner)?.login !== owner.login) throw notFound()
  return { app, owner }
}

function showPermissions(ctx: PageContext, host: GitHubHost): void {
  const viewer = viewerOrSignIn(ctx, host)
  if (!viewer) return
  const { app, owner } = ownApp(ctx, host, viewer)
  show(ctx, 200, {
    title: `Permissions of ${app.name}`,
    bar: barOf(ctx, viewer),
    content: permissionsPage(app, `${settingsPath(owner)}/apps/${app.slug}`),
  })
}

async function changePermissions(ctx: PageContext, host: GitHubHost): Promise<void> {
  const viewer = senderOrSignIn(ctx, host)
  if (!viewer) return
  const { app, owner } = ownApp(ctx, host, viewer)
  const form = z.record(z.string(), z.string()).catch({}).parse(ctx.request.body)
  const permissions: Permissions = Object.fromEntries([
    ['metadata', 'read'],
    ...permissionNames.flatMap((name) => {
      const level = form[name]
      return level === 'read' || level === 'write' ? [[name, level] as const] : []
    }),
  ])
  const lost = uncovered(app.events, permissions)
  await changeApp(host, app, { permissions, events: app.events.filter((event) => !lost.includes(event)) })
  seeOther(ctx, `${settingsPath(owner)}/apps/${app.slug}/permissions`)
}

async function changeHook(ctx: PageContext, host: GitHubHost): Promise<void> {
  const viewer = senderOrSignIn(ctx, host)
  if (!viewer) return
  const { app, owner } = ownApp(ctx, host, viewer)
  const form = z.object({ active: z.string().optional() }).catch({}).parse(ctx.request.body)
  if (app.hook) await changeApp(host, app, { hook: { ...app.hook, active: form.active === 'on' } })
  seeOther(ctx, `${settingsPath(owner)}/apps/${app.slug}`)
}

async function changeApp(host: GitHubHost, { id }: App, change: Partial<App>): Promise<void> {
  const updatedAt = host.clock.now().toISOString()
  await host.github.update((state) => [
    { ...state, apps: state.apps.map((one) => (one.id === id ? { ...one, ...change, updatedAt } : one)) },
    undefined,
  ])
}

function showAuthorizations(ctx: PageContext, host: GitHubHost): void {
  const viewer = viewerOrSignIn(ctx, host)
  if (!viewer) return
  const { apps } = host.github.current()
  const { grants } = host.store.current()
  const own = grants.filter(({ login }) => login === viewer.login).map(({ clientId }) => clientId)
  show(ctx, 200, {
    title: 'Authorized Apps',
    bar: barOf(ctx, viewer),
    content: authorizationsPage(apps.filter(({ clientId }) => own.includes(clientId))),
  })
}

async function revoke(ctx: PageContext, host: GitHubHost): Promise<void> {
  const viewer = senderOrSignIn(ctx, host)
  if (!viewer) return
  const app = host.github.current().apps.find(({ clientId }) => clientId === ctx.params['clientId'])
  if (!app) throw notFound()
  await host.store.update((state) => [
    withoutGrants(state, (one) => one.login === viewer.login && one.clientId === app.clientId),
    undefined,
  ])
  host.webhooks.tellApp({ kind: 'github_app_authorization', action: 'revoked', app, sender: viewer })
  seeOther(ctx, '/settings/apps/authorizations')
}
