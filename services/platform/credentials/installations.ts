/**
 * Where the App is installed, and tokens of its installations, limited to the permissions that the work needs. The list of installations is cached
 * for half a minute, or until the code host reports a change.
 */
import { Fault } from '#domain/kernel/errors.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { AppPermissions } from '#domain/appPermissions.ts'
import type { Logger } from '#platform/log.ts'
import type { CodeHostApps, Installation } from '#platform/ports/codeHostApp.ts'

/** A repository at the code host, identified by its number. The name of its owner determines the installation. */
export interface InstalledRepository {
  readonly id: string
  readonly owner: string
}

/**
 * The purpose of a token: git, git with workflow files, reading a pull request or issue with everything that belongs to it, or commenting on an
 * issue.
 */
export type RepositoryWork = 'git' | 'git with workflows' | 'reading' | 'commenting'

/** Why there is no token of an installation. The person's own token is then used, if it suffices for the work. */
export type NoToken = 'no_key' | 'not_installed' | 'suspended' | 'not_selected' | 'not_granted'

export type RepositoryToken =
  | { readonly kind: 'token'; readonly accessToken: string; readonly installation: Installation }
  | { readonly kind: 'none'; readonly why: NoToken; readonly installation: Installation | undefined }

export interface Installations {
  /** All installations; empty while the App has no key. Throws CodeHostFault. */
  list(): Promise<readonly Installation[]>
  /**
   * A token for work on this repository only. `fresh` creates a new token, for when a cached token was refused. Throws `app_key_refused` when the
   * code host refuses the App's key, since no person's token may then be used instead, and CodeHostFault for its other faults.
   */
  tokenFor(
    repository: InstalledRepository,
    work: RepositoryWork,
    how?: { readonly fresh: boolean },
  ): Promise<RepositoryToken>
  /**
   * A token that can read everything in the installation, after checking that the repository is in it. Only for reads by id, since a name may lead to
   * another repository. `fresh` makes a new token and repeats the check, after a cached token was refused.
   */
  readingToken(repository: InstalledRepository, how?: { readonly fresh: boolean }): Promise<RepositoryToken>
  /** Whether the code host refuses the App's key, as last known. If the cached list of installations is too old, it is read again. Never throws. */
  isKeyRefused(): Promise<boolean>
  forget(): void
  close(): void
}

type Apps = Pick<CodeHostApps, 'hasKey' | 'installations' | 'installationToken'>

const listLifeMs = 30_000
/**
 * If an installation is missing in a cached list that is older than this, the list is read again, since the installation may be new. Simultaneous
 * calls share one request.
 */
const missingLifeMs = 2_000

const needs = {
  git: { contents: 'write' },
  'git with workflows': { contents: 'write', workflows: 'write' },
  reading: {},
  commenting: { issues: 'write' },
} as const satisfies Record<RepositoryWork, AppPermissions>

/** The permissions that a token for reading gets, as far as the installation has them. */
const readable = ['contents', 'pull_requests', 'issues', 'checks', 'statuses', 'actions'] as const

interface InstallationsDeps {
  readonly apps: Apps
  readonly bus: Pick<Bus, 'subscribe'>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'error'>
}

/** Caches the list of installations in memory. Tokens are cached by `apps`. */
export function installations({ apps, bus, clock, logger }: InstallationsDeps): Installations {
  /** The kind of call for which the App's key was last refused; `undefined` once such a call, or one for a token, has succeeded. */
  let keyRefusedFor: 'list' | 'token' | undefined
  let known: { readonly found: Promise<readonly Installation[]>; readonly at: number } | undefined
  const forget = () => void (known = undefined)
  const unsubscribe = bus.subscribe('installations', forget)

  function list(atMostMs = listLifeMs): Promise<readonly Installation[]> {
    const now = clock.now().getTime()
    if (known && now - known.at < atMostMs) return known.found
    const found = readAll()
    const listing = { found, at: now }
    known = listing
    found.then(
      () => void (keyRefusedFor = keyRefusedFor === 'list' ? undefined : keyRefusedFor),
      // A refused key is remembered, so that further calls do not try it for a while.
      (fault: unknown) => {
        if (isRefusalOfKey(fault)) tellOfKey('list', fault)
        else if (known === listing) forget()
      },
    )
    return found
  }
  const readAll = async () => ((await apps.hasKey()) ? apps.installations() : [])

  /** Logs a refused key only once, until the key is accepted again. */
  function tellOfKey(refusedFor: 'list' | 'token', fault: unknown): void {
    if (!keyRefusedFor) logger.error({ err: fault }, 'GitHub does not accept the key of the App')
    keyRefusedFor = refusedFor
  }

  async function of(owner: string): Promise<Installation | undefined> {
    const mine = ({ account }: Installation) => account.login.toLowerCase() === owner.toLowerCase()
    return (await list()).find(mine) ?? (await list(missingLifeMs)).find(mine)
  }

  async function tokenFor(
    repository: InstalledRepository,
    work: RepositoryWork,
    how: { readonly fresh?: boolean } = {},
  ): Promise<RepositoryToken> {
    if (!(await apps.hasKey())) return { kind: 'none', why: 'no_key', installation: undefined }
    const installation = await of(repository.owner).catch((fault: unknown) => {
      throw isRefusalOfKey(fault) ? new Fault('app_key_refused') : fault
    })
    const none = (why: NoToken): RepositoryToken => ({ kind: 'none', why, installation })
    if (!installation) return none('not_installed')
    if (installation.suspendedAt !== null) return none('suspended')
    const permissions = work === 'reading' ? readsOf(installation) : needs[work]
    if (!isGranted(permissions, installation.permissions)) return none('not_granted')
    try {
      const scope = { installationId: installation.id, repositoryId: repository.id, permissions, ...how }
      const accessToken = await apps.installationToken(scope)
      keyRefusedFor = undefined
      return { kind: 'token', accessToken, installation }
    } catch (fault) {
      if (!(fault instanceof CodeHostFault)) throw fault
      // The cached installation may be outdated.
      if (['forbidden', 'not_found', 'invalid'].includes(fault.kind)) forget()
      if (fault.kind === 'not_found') return none('not_installed')
      if (fault.kind === 'forbidden') return none('suspended')
      if (fault.kind === 'invalid') return none('not_selected')
      if (fault.kind !== 'unauthorized') throw fault
      tellOfKey('token', fault)
      throw new Fault('app_key_refused')
    }
  }

  return {
    list: () => list(),
    tokenFor,
    async readingToken(repository, how) {
      const narrow = await tokenFor(repository, 'reading', how)
      if (narrow.kind === 'none') return narrow
      const { installation } = narrow
      const permissions = readsOf(installation)
      const scope = { installationId: installation.id, repositoryId: null, permissions, ...how }
      return { ...narrow, accessToken: await apps.installationToken(scope) }
    },
    async isKeyRefused() {
      await list().catch(() => undefined)
      return keyRefusedFor !== undefined
    },
    forget,
    close: unsubscribe,
  }
}

/** Whether the code host's answer means that the key does not belong to an App, or no longer does. */
const isRefusalOfKey = (fault: unknown): boolean =>
  fault instanceof CodeHostFault && (fault.kind === 'unauthorized' || fault.kind === 'not_found')

function readsOf({ permissions }: Installation): AppPermissions {
  const granted = readable.filter((name) => permissions[name] !== undefined)
  return Object.fromEntries([
    ['metadata', 'read'] as const,
    ...granted.map((name) => [name, 'read'] as const),
  ])
}

/** Whether the granted permissions suffice. Every level includes `read`, and every level but `read` includes `write`. */
function isGranted(needed: AppPermissions, granted: AppPermissions): boolean {
  return Object.entries(needed).every(
    ([name, level]) =>
      name === 'metadata' || (granted[name] !== undefined && (level === 'read' || granted[name] !== 'read')),
  )
}
