/** Creates, changes and removes installations of Apps; each change is reported to the App. */
import type { Clock } from '#platform/ports/clock.ts'
import { sameName, type Account, type Owner } from '../../../../services/codehost/state/accounts.ts'
import { notFound, Refusal } from '../../../../services/codehost/httpError.ts'
import type { Repository } from '../../../../services/codehost/state/stateSchema.ts'
import type { App, Installation, GitHubState } from '../state.ts'
import type { Store } from '../../../../services/codehost/state/store.ts'
import type { AppEvent } from './events.ts'
import { isOn } from './coverage.ts'

/** `null` means all repositories, including future ones. */
export type Selection = readonly number[] | null

export interface Installations {
  /** Installs the App; an existing installation of the account is changed. Completes requests by members. */
  install(app: App, account: Owner, selection: Selection, by: Account): Promise<Installation>
  /** Throws Refusal 404, as do all functions below. */
  choose(id: number, selection: Selection, by: Account): Promise<Installation>
  /** `by` is `null` when the App itself does it. */
  setSuspended(id: number, suspended: boolean, by: Account | null): Promise<Installation>
  /** Grants the permissions that the App requests now. */
  acceptPermissions(id: number, by: Account): Promise<Installation>
  uninstall(id: number, by: Account | null): Promise<void>
  /** Records that a member asks the owners; asking twice is one request. */
  request(app: App, organization: Owner, by: Account): Promise<void>
  declineRequest(id: number): Promise<void>
}

interface Parts {
  readonly store: Store<GitHubState>
  readonly clock: Clock
  readonly repositories: () => readonly Repository[]
  readonly tell: (event: AppEvent) => void
}

export function createInstallations(parts: Parts): Installations {
  return {
    install: (app, account, selection, by) => install(parts, { app, account, selection, by }),
    choose: (id, selection, by) => choose(parts, id, selection, by),
    setSuspended: (id, suspended, by) => setSuspended(parts, id, suspended, by),
    acceptPermissions: (id, by) => acceptPermissions(parts, id, by),
    uninstall: (id, by) => uninstall(parts, id, by),
    request: (app, organization, by) => request(parts, app, organization, by),
    declineRequest: async (id) => {
      await parts.store.update((state) => [withoutRequests(state, (one) => one.id === id), undefined])
    },
  }
}

/** Whether the account may install the App: a private App can only be installed by its owner. */
export const mayHave = (app: App, account: Owner): boolean =>
  app.isPublic || sameName(app.owner, account.login)

/** The existing repositories of an installation. */
export const repositoriesOn = (
  repositories: readonly Repository[],
  installation: Installation,
): readonly Repository[] => repositories.filter((one) => isOn(installation, one))

async function install(
  parts: Parts,
  asked: { readonly app: App; readonly account: Owner; readonly selection: Selection; readonly by: Account },
): Promise<Installation> {
  const { app, account, selection, by } = asked
  if (!mayHave(app, account)) throw new Refusal(404, 'This App is private: only its owner can install it.')
  const { installations, installationRequests } = parts.store.current()
  const isItsOwn = (one: { appId: number; account: string }) =>
    one.appId === app.id && sameName(one.account, account.login)
  const known = installations.find(isItsOwn)
  if (known) return choose(parts, known.id, selection, by)
  const now = parts.clock.now().toISOString()
  const made = await parts.store.update((state) => {
    const installation: Installation = {
      id: state.nextInstallationId,
      appId: app.id,
      account: account.login,
      repositoryIds: ownedOf(parts, account.login, selection),
      permissions: app.permissions,
      events: app.events,
      createdAt: now,
      updatedAt: now,
      suspended: null,
    }
    const rest = withoutRequests(state, isItsOwn)
    const nextInstallationId = state.nextInstallationId + 1
    return [
      { ...rest, nextInstallationId, installations: [...rest.installations, installation] },
      installation,
    ]
  })
  const requester = installationRequests.find(isItsOwn)?.requester ?? null
  parts.tell({ kind: 'installation', action: 'created', app, installation: made, requester, sender: by })
  return made
}

/** Only repositories of the account itself can be chosen. */
function ownedOf({ repositories }: Parts, login: string, selection: Selection): Selection {
  if (selection === null) return null
  const own = repositories()
    .filter((one) => sameName(one.owner, login))
    .map(({ id }) => id)
  return selection.filter((id) => own.includes(id))
}

async function choose(parts: Parts, id: number, selection: Selection, by: Account): Promise<Installation> {
  const { app, before, after } = await changeOne(parts, id, (one) => ({
    ...one,
    repositoryIds: ownedOf(parts, one.account, selection),
  }))
  const here = parts.repositories()
  const [had, has] = [repositoriesOn(here, before), repositoriesOn(here, after)]
  const added = has.filter((one) => !had.includes(one))
  const removed = had.filter((one) => !has.includes(one))
  const about = {
    kind: 'installation_repositories',
    app,
    installation: after,
    added,
    removed,
    sender: by,
  } as const
  if (added.length > 0) parts.tell({ ...about, action: 'added' })
  if (removed.length > 0) parts.tell({ ...about, action: 'removed' })
  return after
}

async function setSuspended(
  parts: Parts,
  id: number,
  suspended: boolean,
  by: Account | null,
): Promise<Installation> {
  const at = parts.clock.now().toISOString()
  const { app, before, after } = await changeOne(parts, id, (one) =>
    (one.suspended !== null) === suspended
      ? one
      : { ...one, suspended: suspended ? { at, by: by?.login ?? null } : null },
  )
  if (before !== after) {
    const action = suspended ? 'suspend' : 'unsuspend'
    parts.tell({ kind: 'installation', action, app, installation: after, requester: null, sender: by })
  }
  return after
}

async function acceptPermissions(parts: Parts, id: number, by: Account): Promise<Installation> {
  const { app, after } = await changeOne(parts, id, (one, { permissions, events }) => ({
    ...one,
    permissions,
    events,
  }))
  const action = 'new_permissions_accepted'
  parts.tell({ kind: 'installation', action, app, installation: after, requester: null, sender: by })
  return after
}

async function uninstall(parts: Parts, id: number, by: Account | null): Promise<void> {
  const { app, after } = await changeOne(parts, id, (one) => one)
  // The payload names the repositories of the installation, so it is made before they are forgotten.
  parts.tell({
    kind: 'installation',
    action: 'deleted',
    app,
    installation: after,
    requester: null,
    sender: by,
  })
  await parts.store.update((state) => [
    {
      ...state,
      installations: state.installations.filter((one) => one.id !== id),
      installationTokens: state.installationTokens.filter((one) => one.installationId !== id),
    },
    undefined,
  ])
}

async function request(parts: Parts, app: App, organization: Owner, by: Account): Promise<void> {
  const createdAt = parts.clock.now().toISOString()
  await parts.store.update((state) => {
    const isAsked = state.installationRequests.some(
      (one) => one.appId === app.id && sameName(one.account, organization.login),
    )
    if (isAsked) return [state, undefined]
    const added = {
      id: state.nextInstallationId,
      appId: app.id,
      account: organization.login,
      requester: by.login,
      createdAt,
    }
    const installationRequests = [...state.installationRequests, added]
    return [{ ...state, nextInstallationId: state.nextInstallationId + 1, installationRequests }, undefined]
  })
}

interface Changed {
  readonly app: App
  readonly before: Installation
  readonly after: Installation
}

function changeOne(
  { store, clock }: Parts,
  id: number,
  change: (one: Installation, app: App) => Installation,
): Promise<Changed> {
  const updatedAt = clock.now().toISOString()
  return store.update((state) => {
    const before = state.installations.find((one) => one.id === id)
    const app = state.apps.find((one) => one.id === before?.appId)
    if (!before || !app) throw notFound()
    const changed = change(before, app)
    const after = changed === before ? before : { ...changed, updatedAt }
    const installations = state.installations.map((one) => (one.id === id ? after : one))
    return [after === before ? state : { ...state, installations }, { app, before, after }]
  })
}

const withoutRequests = (
  state: GitHubState,
  ended: (request: GitHubState['installationRequests'][number]) => boolean,
): GitHubState => ({
  ...state,
  installationRequests: state.installationRequests.filter((one) => !ended(one)),
})
