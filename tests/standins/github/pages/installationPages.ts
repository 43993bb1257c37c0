/** The pages on which people install Apps, choose repositories, and remove Apps. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import {
  membershipsOf,
  ownerOf,
  sameName,
  type Account,
  type Owner,
} from '../../../../services/codehost/state/accounts.ts'
import { appBySlug } from '../apps/apps.ts'
import { grants } from '../apps/permissions.ts'
import { mayHave, type Selection } from '../apps/installations.ts'
import { notFound } from '../../../../services/codehost/httpError.ts'
import { withParams } from '../../../../services/codehost/oauth.ts'
import type { GitHubHost } from '../host.ts'
import type { Repository } from '../../../../services/codehost/state/stateSchema.ts'
import type { App, Installation } from '../state.ts'
import { allowFormsTo, show } from '../../../../services/codehost/pages/layout.ts'
import {
  choosePage,
  installationPage,
  installationsPage,
  installPage,
  requestedPage,
} from './installationHtml.ts'
import {
  barOf,
  owns,
  seeOther,
  senderOrSignIn,
  settingsOwner,
  settingsPath,
  viewerOrSignIn,
  type PageContext,
} from './viewer.ts'

const one = z.string().transform((text) => [text])
const Chosen = z.object({
  target_id: z.string().optional(),
  state: z.string().optional(),
  selection: z.enum(['all', 'selected']).catch('all'),
  repository: z.union([z.array(z.string()), one]).catch([]),
})

export function installationPages(router: Router, host: GitHubHost): void {
  router.get('/apps/:slug/installations/new', (ctx) => showInstall(ctx, host))
  router.post('/apps/:slug/installations', (ctx) => install(ctx, host))
  for (const settings of ['/settings', '/organizations/:org/settings']) {
    const at = `${settings}/installations`
    router.get(at, (ctx) => showInstallations(ctx, host))
    router.post(`${at}/requests/:id/decline`, (ctx) => decline(ctx, host))
    router.get(`${at}/:id`, (ctx) => showInstallation(ctx, host))
    for (const change of ['repositories', 'suspend', 'unsuspend', 'permissions', 'uninstall'] as const)
      router.post(`${at}/:id/${change}`, (ctx) => changeInstallation(ctx, host, change))
  }
}

const repositoriesOf = (host: GitHubHost, account: Owner): readonly Repository[] =>
  host.store.current().repositories.filter((repository) => sameName(repository.owner, account.login))

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, 2_000) : undefined

/** The App that the address names, and the chosen account for which it is to be installed. */
function asked(ctx: PageContext, host: GitHubHost, viewer: Account, targetId: string | undefined) {
  const app = appBySlug(host.github.current(), ctx.params['slug'] ?? '')
  if (!app) throw notFound()
  const places = [viewer, ...membershipsOf(viewer)].filter((place) => mayHave(app, place))
  return { app, places, target: places.find(({ id }) => String(id) === targetId) }
}

function showInstall(ctx: PageContext, host: GitHubHost): void {
  const viewer = viewerOrSignIn(ctx, host)
  if (!viewer) return
  const { app, places, target } = asked(ctx, host, viewer, text(ctx.query['target_id']))
  const state = text(ctx.query['state'])
  const known = host.github.current().installations.filter(({ appId }) => appId === app.id)
  const at = (place: Owner) => known.find(({ account }) => account === place.login)
  if (!target) {
    return show(ctx, 200, {
      title: `Install ${app.name}`,
      bar: barOf(ctx, viewer),
      content: choosePage(
        app,
        places.map((place) => ({
          place,
          address: addressOf(app, place, at(place), state),
          isThere: !!at(place),
        })),
      ),
    })
  }
  const isOwner = owns(viewer, target)
  const back = isOwner ? afterInstall(app) : app.setupUrl
  if (back) allowFormsTo(ctx, back)
  show(ctx, 200, {
    title: `Install ${app.name}`,
    bar: barOf(ctx, viewer),
    content: installPage({
      app,
      target,
      state,
      isOwner,
      repositories: isOwner ? repositoriesOf(host, target) : [],
    }),
  })
}

/** The address of the settings if the App is installed for the account, otherwise that of the form. */
function addressOf(
  app: App,
  place: Owner,
  installed: Installation | undefined,
  state: string | undefined,
): string {
  if (installed) return `${settingsPath(place)}/installations/${installed.id}`
  const query = new URLSearchParams({
    target_id: String(place.id),
    ...(state === undefined ? {} : { state }),
  })
  return `/apps/${app.slug}/installations/new?${query}`
}

/** The address to which the browser goes after an installation, if the App has one. */
const afterInstall = (app: App): string | null =>
  app.requestsOAuthOnInstall ? (app.callbackUrls[0] ?? null) : app.setupUrl

async function install(ctx: PageContext, host: GitHubHost): Promise<void> {
  const viewer = senderOrSignIn(ctx, host)
  if (!viewer) return
  const form = Chosen.parse(ctx.request.body ?? {})
  const { app, target } = asked(ctx, host, viewer, form.target_id)
  if (!target) throw notFound()
  if (!owns(viewer, target)) return requestInstall(ctx, host, { app, target, viewer, state: form.state })
  const made = await host.installations.install(app, target, selectionOf(form), viewer)
  const back = afterInstall(app)
  if (back === null) return seeOther(ctx, `${settingsPath(target)}/installations/${made.id}`)
  const about = { installation_id: String(made.id), setup_action: 'install', state: form.state }
  const code = app.requestsOAuthOnInstall
    ? host.codes.issue({
        clientId: app.clientId,
        login: viewer.login,
        redirectUri: undefined,
        challenge: undefined,
      })
    : undefined
  seeOther(ctx, withParams(new URL(back), { code, ...about }))
}

/** A member asks the owners to install the App. There is no installation yet, so the App is not notified. */
async function requestInstall(
  ctx: PageContext,
  host: GitHubHost,
  { app, target, viewer, state }: { app: App; target: Owner; viewer: Account; state: string | undefined },
): Promise<void> {
  await host.installations.request(app, target, viewer)
  if (app.setupUrl !== null)
    return seeOther(ctx, withParams(new URL(app.setupUrl), { setup_action: 'request', state }))
  show(ctx, 200, { title: 'Requested', bar: barOf(ctx, viewer), content: requestedPage(app, target) })
}

function selectionOf({ selection, repository }: z.output<typeof Chosen>): Selection {
  return selection === 'all' ? null : repository.map(Number).filter((id) => Number.isSafeInteger(id))
}

function showInstallations(ctx: PageContext, host: GitHubHost): void {
  const viewer = viewerOrSignIn(ctx, host)
  if (!viewer) return
  const owner = settingsOwner(ctx, viewer)
  const { apps, installations, installationRequests } = host.github.current()
  const named = <Item extends { account: string; appId: number }>(items: readonly Item[]) =>
    items.flatMap((item) => {
      const app = apps.find(({ id }) => id === item.appId)
      return app && sameName(item.account, owner.login) ? [{ ...item, app }] : []
    })
  show(ctx, 200, {
    title: 'Installed Apps',
    bar: barOf(ctx, viewer),
    content: installationsPage({
      owner,
      path: `${settingsPath(owner)}/installations`,
      installed: named(installations),
      requests: named(installationRequests),
    }),
  })
}

async function decline(ctx: PageContext, host: GitHubHost): Promise<void> {
  const viewer = senderOrSignIn(ctx, host)
  if (!viewer) return
  const owner = settingsOwner(ctx, viewer)
  const request = host.github
    .current()
    .installationRequests.find(
      ({ id, account }) => String(id) === ctx.params['id'] && account === owner.login,
    )
  if (!request) throw notFound()
  await host.installations.declineRequest(request.id)
  seeOther(ctx, `${settingsPath(owner)}/installations`)
}

/** The installation that the address names, in the settings of its own account. Throws Refusal 404. */
function ownInstallation(ctx: PageContext, host: GitHubHost, viewer: Account) {
  const owner = settingsOwner(ctx, viewer)
  const { apps, installations } = host.github.current()
  const installation = installations.find(({ id }) => String(id) === ctx.params['id'])
  const app = apps.find(({ id }) => id === installation?.appId)
  if (!installation || !app || ownerOf(installation.account)?.login !== owner.login) throw notFound()
  return { owner, installation, app, path: `${settingsPath(owner)}/installations/${installation.id}` }
}

function showInstallation(ctx: PageContext, host: GitHubHost): void {
  const viewer = viewerOrSignIn(ctx, host)
  if (!viewer) return
  const { owner, installation, app, path } = ownInstallation(ctx, host, viewer)
  if (app.setupOnUpdate && app.setupUrl !== null) allowFormsTo(ctx, app.setupUrl)
  show(ctx, 200, {
    title: `${app.name} for ${owner.login}`,
    bar: barOf(ctx, viewer),
    content: installationPage({
      app,
      installation,
      path,
      owner,
      repositories: repositoriesOf(host, owner),
      asksMore: !grants(installation.permissions, app.permissions),
    }),
  })
}

type Change = 'repositories' | 'suspend' | 'unsuspend' | 'permissions' | 'uninstall'

async function changeInstallation(ctx: PageContext, host: GitHubHost, change: Change): Promise<void> {
  const viewer = senderOrSignIn(ctx, host)
  if (!viewer) return
  const { owner, installation, app, path } = ownInstallation(ctx, host, viewer)
  const { id } = installation
  switch (change) {
    case 'repositories': {
      await host.installations.choose(id, selectionOf(Chosen.parse(ctx.request.body ?? {})), viewer)
      if (!app.setupOnUpdate || app.setupUrl === null) return seeOther(ctx, path)
      const about = { installation_id: String(id), setup_action: 'update' }
      return seeOther(ctx, withParams(new URL(app.setupUrl), about))
    }
    case 'suspend':
    case 'unsuspend':
      await host.installations.setSuspended(id, change === 'suspend', viewer)
      return seeOther(ctx, path)
    case 'permissions':
      await host.installations.acceptPermissions(id, viewer)
      return seeOther(ctx, path)
    case 'uninstall':
      await host.installations.uninstall(id, viewer)
      return seeOther(ctx, `${settingsPath(owner)}/installations`)
  }
}
