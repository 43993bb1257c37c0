/** A person's access to a task's repository, and the refresh of its mirror with that access. */
import { viewerOf, type NamedCredential } from '#domain/appPermissions.ts'
import { projectsView } from '#domain/views/projects.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type {
  InstalledRepository,
  Installations,
  NoToken,
  RepositoryToken,
} from '#platform/credentials/installations.ts'
import { CodeHostFault, type CodeHost, type RepositoryName } from '#platform/ports/codeHost.ts'
import type { Installation } from '#platform/ports/codeHostApp.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { WorkspaceDeps } from '../deps.ts'
import type { Mirror, RefreshRequest, RefreshResult } from '../workspace/git/mirror.ts'
import type { MirroredRepository } from '../workspace/names.ts'
import { failed, type Failed } from './failure.ts'

/** How git and the code host reach a repository. The tokens and `authorization` are secrets. */
export interface RepositoryAccess {
  readonly repository: RepositoryName
  readonly access: {
    /** The person's own token. The code host shows whatever is done with it as done by that person. */
    readonly accessToken: string
    /** The token for git: a token of the App's installation for this repository alone, or else the person's own. */
    readonly gitToken: string
    readonly url: string
    readonly authorization: string
    /** Whose credential git uses, as messages name it; by default the person's. */
    readonly accessOf?: NamedCredential
    /** Returns the same access with a new token, in case the host rejects this one; `undefined` when there is none. */
    readonly renewed?: () => Promise<RepositoryAccess['access'] | undefined>
  }
  /** The repository by which installations are looked up, the installation that covers it, and the reason if there is no token of an installation. */
  readonly installed: InstalledRepository & {
    readonly installation: Installation | undefined
    readonly noToken?: NoToken
  }
}

/** The repository, its id and its address, by which its mirror is found. */
export function mirrored({
  repository,
  access,
  installed,
}: RepositoryAccess): MirroredRepository & { url: string } {
  return { ...repository, id: installed.id, url: access.url }
}

type Task = Pick<TaskDocument, 'owner' | 'projectId'>
interface OwnDeps {
  readonly documents: Pick<Documents, 'get'>
  readonly accessControl: Pick<AccessControl, 'check'>
  readonly access: Pick<HostAccess, 'tokenOf'>
  readonly codeHost: Pick<CodeHost, 'gitAccess' | 'ownToken'>
}

export interface ReachingDeps extends OwnDeps, Pick<WorkspaceDeps, 'mirrors'> {
  readonly installations: Pick<Installations, 'tokenFor'>
  readonly codeHost: OwnDeps['codeHost'] & Checking['codeHost'] & Pick<CodeHost, 'throwIfRateLimited'>
}
type Deps = OwnDeps & Pick<ReachingDeps, 'installations' | 'codeHost'>

type Reached = { readonly kind: 'reached' } & RepositoryAccess

/**
 * Looks up the repository with nothing but the person's own token, for work on this machine that does not need the App. Throws when the person may no
 * longer use this server, or has no valid token of the code host.
 */
export async function reachAsPerson(deps: OwnDeps, task: Task): Promise<Reached | Failed> {
  const project = await deps.documents.get(projectsView, task.projectId)
  if (!project) return failed('project_deleted', 'The project of this task was deleted.')
  await deps.accessControl.check(task.owner)
  const repository = { owner: project.githubOwner, name: project.githubRepoName }
  return { kind: 'reached', ...(await asPerson(deps, task.owner, repository, project.githubRepoId)) }
}

async function asPerson(
  deps: Pick<OwnDeps, 'access' | 'codeHost'>,
  person: string,
  repository: RepositoryName,
  id: string,
): Promise<RepositoryAccess> {
  const own = async () => {
    const accessToken = await deps.access.tokenOf(person)
    return accessWith(deps, repository, { accessToken, gitToken: accessToken })
  }
  const access = { ...(await own()), renewed: own }
  return { repository, access, installed: { id, owner: repository.owner, installation: undefined } }
}

/**
 * Looks up the task's repository, again for each run. Checks that the person may still use this server before anything is fetched. Throws when they
 * may not, or when the code host refuses.
 */
export async function reachRepository(deps: Deps, task: Task): Promise<Reached | Failed> {
  const reached = await reachAsPerson(deps, task)
  return reached.kind === 'failed' ? reached : { kind: 'reached', ...(await withApp(deps, reached)) }
}

/**
 * Looks up another repository of the code host, such as a submodule. Throws the code host's refusal, for example when the repository is hidden from
 * the person: an installation must not fetch it for them.
 */
export async function reachOther(
  deps: Deps,
  person: string,
  repository: RepositoryName,
): Promise<RepositoryAccess> {
  await deps.accessControl.check(person)
  const { id } = await deps.codeHost.repository(await deps.access.tokenOf(person), repository)
  return withApp(deps, await asPerson(deps, person, repository, id))
}

/** Makes git use a token of the App's installation that covers the repository, if there is such an installation. */
async function withApp(deps: Deps, reached: RepositoryAccess): Promise<RepositoryAccess> {
  const { repository, access, installed } = reached
  const { accessToken } = access
  const found = await deps.installations.tokenFor(installed, 'git')
  const asApp = async (token: RepositoryToken) =>
    token.kind === 'token'
      ? await accessWith(deps, repository, { accessToken, gitToken: token.accessToken })
      : undefined
  const app = await asApp(found)
  const renewed = async () => asApp(await deps.installations.tokenFor(installed, 'git', { fresh: true }))
  const chosen = app ? { ...app, renewed } : access
  deps.codeHost.throwIfRateLimited(chosen.gitToken)
  return {
    repository,
    access: chosen,
    installed: {
      ...installed,
      installation: found.installation,
      ...(found.kind === 'none' && { noToken: found.why }),
    },
  }
}

async function accessWith(
  { codeHost }: Pick<OwnDeps, 'codeHost'>,
  repository: RepositoryName,
  tokens: Pick<RepositoryAccess['access'], 'accessToken' | 'gitToken'>,
): Promise<RepositoryAccess['access']> {
  const { url, authorization } = await codeHost.gitAccess(tokens.gitToken, repository)
  const own = codeHost.ownToken === undefined ? 'person' : 'own_token'
  const accessOf = tokens.gitToken === tokens.accessToken ? own : 'installation'
  return { ...tokens, url, authorization, accessOf }
}

/**
 * Explains a refusal that the App's installation caused. Tokens of people reach only the repositories of the installation. Returns `undefined` for
 * any other cause.
 */
function installationLost({ repository, installed }: RepositoryAccess): string | undefined {
  const { owner, name } = repository
  const at = installed.installation ? ` at ${installed.installation.htmlUrl}` : ''
  const sentence = (is: string, cure: string) =>
    `Flightdeck's App ${is}, so nothing reaches ${owner}/${name}. The work is kept. ${cure}, then try again.`
  switch (installed.noToken) {
    case 'suspended':
      return sentence(`is suspended for ${owner}`, `Its owner can end that${at}`)
    case 'not_installed':
      return sentence(`is not installed for ${owner}`, 'Its owner can install it from Settings')
    case 'not_selected':
      return sentence('was not given this repository', `Its owner can add it${at}`)
    case 'no_key':
    case 'not_granted':
    case undefined:
      return undefined
  }
}

/** Why the host hides a repository from the person, as far as that can be found out: a 404 alone does not say. */
async function whyHidden(codeHost: Checking['codeHost'], reached: RepositoryAccess): Promise<string> {
  const { repository, installed } = reached
  const full = `${repository.owner}/${repository.name}`
  const gone = `${full} was deleted or moved: GitHub shows it neither to your account nor to Flightdeck's App. The work is kept.`
  const at = installed.installation ? ` at ${installed.installation.htmlUrl}` : ''
  const unreached = `Flightdeck's App does not reach ${full}: it was taken out of the App's repositories, or deleted or moved. The work is kept. Its owner can add it${at} if it is still there, then try again.`
  // If the App has access to all repositories of the account but not to this one, the repository is no longer there.
  if (installed.noToken === 'not_selected')
    return installed.installation?.repositories === 'all' ? gone : unreached
  const lost = installationLost(reached)
  if (lost !== undefined) return lost
  // The App's token may be from before the repository was removed from the installation.
  if (await isHiddenFromApp(codeHost, reached)) return unreached
  // The code host gives the same answer for a deleted repository and for one that the person may not see, so the sentence names both.
  return `GitHub no longer shows ${full} to ${viewerOf(codeHost)}: either it was deleted or moved, or ${codeHost.ownToken === undefined ? 'your' : 'its'} access was taken back. The work is kept. Ask for access if it is still there, then continue.`
}

/** Whether the host hides the repository from the App's own token too; `false` when there is no such token, or when the host does not say. */
async function isHiddenFromApp(
  codeHost: Checking['codeHost'],
  { access, installed }: RepositoryAccess,
): Promise<boolean> {
  if (access.gitToken === access.accessToken || installed.id === '') return false
  try {
    await codeHost.repositoryById(access.gitToken, installed.id)
    return false
  } catch (fault) {
    if (!(fault instanceof CodeHostFault)) throw fault
    return fault.kind === 'not_found'
  }
}

/** The repository at the code host, asked as the person; `undefined` if its name belongs to another repository now. Throws the host's refusal. */
export async function readableRepository(
  { codeHost }: Pick<Checking, 'codeHost'>,
  { repository, access, installed }: RepositoryAccess,
) {
  const found = await codeHost.repository(access.accessToken, repository)
  return installed.id === '' || found.id === installed.id ? found : undefined
}

/** Whether the person may push, or why they may not even read; `null` when the host does not say. Throws when the host cannot be asked. */
export async function rightsOf(
  { codeHost }: Checking,
  reached: RepositoryAccess,
): Promise<{ readonly mayPush: boolean | null } | Failed> {
  const { repository } = reached
  const full = `${repository.owner}/${repository.name}`
  try {
    const found = await readableRepository({ codeHost }, reached)
    if (found) return { mayPush: found.mayPush }
    return failed(
      'no_repository_access',
      `${full} is another repository now than the one of this project, which was deleted or moved. Make a project of the new one to work on it.`,
    )
  } catch (fault) {
    if (!(fault instanceof CodeHostFault)) throw fault
    switch (fault.kind) {
      case 'unauthorized':
        return failed('github_not_connected', fault.message)
      case 'forbidden':
        return failed('no_repository_access', fault.message)
      case 'not_found':
        return failed('no_repository_access', await whyHidden(codeHost, reached))
      case 'invalid':
      case 'rate_limited':
      case 'unavailable':
        throw fault
    }
  }
}

export type RefreshedRepository =
  | ({ readonly kind: 'ready'; readonly mirror: Mirror; readonly mayPush: boolean | null } & RepositoryAccess)
  | (Failed & {
      /** Whether git failed without being refused, which says nothing about the person's access. */
      readonly isAccessUnknown?: boolean
    })

type RefreshOptions = Pick<RefreshRequest, 'signal' | 'onProgress'>
interface Checking {
  readonly codeHost: Pick<CodeHost, 'repository' | 'repositoryById' | 'recordGitRateLimit' | 'ownToken'>
}

const cloneTimeoutMs = 600_000

/**
 * Refreshes the mirror of a repository and checks that the person still has access. With the person's own token, both happen at the same time; with
 * an installation's token, the check comes first. Throws if the host limits our requests or cannot be asked, unless git's own failure says more.
 */
export async function refreshReached(
  { mirrors, codeHost }: Checking & Pick<WorkspaceDeps, 'mirrors'>,
  reached: RepositoryAccess,
  { signal, onProgress }: RefreshOptions,
): Promise<RefreshedRepository> {
  const { repository, access, installed } = reached
  const isOwn = access.gitToken === access.accessToken
  const ended = new AbortController()
  const checking = rightsOf({ codeHost }, reached).then(
    (found) => {
      if ('kind' in found) ended.abort()
      return found
    },
    (fault: unknown) => {
      if (!isOwn) ended.abort()
      return { fault }
    },
  )
  const fetchWith = ({ authorization, accessOf }: RepositoryAccess['access']) =>
    mirrors.refresh({
      ...mirrored(reached),
      authorization,
      ...(accessOf !== undefined && { accessOf }),
      timeoutMs: cloneTimeoutMs,
      signal: signal ? AbortSignal.any([signal, ended.signal]) : ended.signal,
      ...(onProgress && { onProgress }),
      ...(!isOwn && { fetchAfter: checking }),
    })
  const [rights, first] = await Promise.all([checking, fetchWith(access)])
  if ('kind' in rights) return rights
  if ('fault' in rights && ended.signal.aborted) throw rights.fault
  const renewed = first.kind === 'unauthorized' ? await access.renewed?.() : undefined
  const refreshed = renewed ? await fetchWith(renewed) : first
  const used = renewed ?? access
  if (refreshed.kind === 'limited') throw codeHost.recordGitRateLimit(used.gitToken)
  // A failure of git says more than a fault of the check, so it comes first.
  if (refreshed.kind !== 'ready') {
    const isAccessUnknown = refreshed.kind === 'unreachable' || refreshed.kind === 'timed_out'
    return { ...failed('clone_failed', sentenceOf(refreshed)), ...(isAccessUnknown && { isAccessUnknown }) }
  }
  if ('fault' in rights) throw rights.fault
  const { mirror } = refreshed
  return { kind: 'ready', mirror, mayPush: rights.mayPush, repository, access: used, installed }
}

/**
 * The access for a push. A person who may read but not push is refused, because the token of the installation could push for them. If the host does
 * not say whether they may push, their own token is used, and the host decides.
 */
export async function forPush(
  deps: Pick<OwnDeps, 'codeHost'>,
  refreshed: RefreshedRepository,
): Promise<RefreshedRepository> {
  if (refreshed.kind === 'failed' || refreshed.mayPush === true) return refreshed
  const { repository, mayPush } = refreshed
  const { owner, name } = repository
  if (mayPush === false)
    return failed(
      'no_push_access',
      installationLost(refreshed) ??
        `Your GitHub account may read ${owner}/${name}, but not push to it. The work is kept. Ask somebody who owns the repository for write access, then try again.`,
    )
  const { accessToken } = refreshed.access
  const access = await accessWith(deps, repository, { accessToken, gitToken: accessToken })
  return { ...refreshed, access }
}

/** Looks up the task's repository and refreshes its mirror. */
export async function refreshMirror(
  deps: WorkspaceDeps,
  task: Task,
  options: RefreshOptions,
): Promise<RefreshedRepository> {
  const reached = await reachRepository(deps, task)
  return reached.kind === 'failed' ? reached : refreshReached(deps, reached, options)
}

function sentenceOf(refreshed: Exclude<RefreshResult, { kind: 'ready' }>): string {
  return refreshed.kind === 'aborted' ? 'Cloning was stopped.' : refreshed.message
}
