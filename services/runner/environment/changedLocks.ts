/** Finds out whether the environment that tasks of a project use was made with other lock files than those of the default branch. */
import { projectsView } from '#domain/views/projects.ts'
import type { RpcRequest } from '#platform/ports/rpc.ts'
import type { AgentDeps, RecordingDeps, WorkspaceDeps } from '../deps.ts'
import { settingsOf, valuesOf } from '../execution/taskSecrets.ts'
import { mirrored, reachAsPerson, refreshMirror } from '../execution/repositoryAccess.ts'
import { commitOf, endedWell, type Git } from '../workspace/git/git.ts'
import { keysAt } from './environment.ts'
import type { EnvironmentKey } from './environmentKey.ts'
import { isLockFile } from './setupFiles.ts'
import { commitOfLayer, lastUsed, layersOf, type Layer } from './layers.ts'

type Request = RpcRequest<'rebuildEnvironment'>
type Deps = WorkspaceDeps & Pick<AgentDeps, 'commands' | 'projectSecrets'> & Pick<RecordingDeps, 'redaction'>

/** The environment to make again in the background, and the reason. */
export interface ChangedLocks {
  readonly key: EnvironmentKey
  /** Some of the lock files that changed; none when that is not known. */
  readonly changed: readonly string[]
  /** When a task last used an environment of the project, in milliseconds since 1970. */
  readonly usedAt: number
}

/** An environment that no task has used for this long is not made again. */
const usedWithinMs = 30 * 24 * 60 * 60_000
const maxNamed = 5
const maxNameLength = 300

/** When a task last used an environment of the project, in milliseconds since 1970; `undefined` when that was too long ago, or never. */
export async function lastUse(root: string, projectId: string): Promise<number | undefined> {
  const layers = await layersOf(root, projectId)
  const last = Math.max(0, ...(await Promise.all(layers.map(({ dir }) => lastUsed(dir)))))
  return last > Date.now() - usedWithinMs ? last : undefined
}

/**
 * Fetches the repository and finds the lock files that have changed; `undefined` when it cannot be fetched, or when nothing has to be made again.
 * Throws the faults of the code host.
 */
export async function changedLocks(
  deps: Deps,
  { projectId, ownerId }: Request,
  signal: AbortSignal,
): Promise<ChangedLocks | undefined> {
  const used = await lastUse(deps.root, projectId)
  const { settings, secrets } = await settingsOf(deps, projectId)
  if (used === undefined || settings.setupCommand.trim() === '') return undefined
  const refreshed = await refreshMirror(deps, { owner: ownerId, projectId }, { signal })
  const found =
    refreshed.kind === 'ready' ? await defaultKey(deps, projectId, refreshed.mirror.dir) : undefined
  const names = found && (await changedIn(deps, { projectId, ...found }))
  if (!found || !names || deps.environments.notKept.has(found.key.setupAndLocks)) return undefined
  const redaction = deps.redaction(valuesOf(secrets))
  const shown = names
    .slice(0, maxNamed)
    .map(async (name) => (await redaction.text(name)).slice(0, maxNameLength))
  return { key: found.key, changed: await Promise.all(shown), usedAt: used }
}

/** The keys under which tasks of the default branch find an environment, at the commit that was fetched last; none when nothing was fetched. */
export async function fetchedKeys(
  deps: Deps,
  { projectId, ownerId }: Request,
): Promise<readonly EnvironmentKey[]> {
  const reached = await reachAsPerson(deps, { owner: ownerId, projectId })
  const mirror = reached.kind === 'failed' ? undefined : await deps.mirrors.find(mirrored(reached))
  const found = mirror && (await defaultKey(deps, projectId, mirror.dir))
  return found ? [found.key] : []
}

interface DefaultKey {
  readonly key: EnvironmentKey
  readonly gitDir: string
  readonly commit: string
}

async function defaultKey(deps: Deps, projectId: string, gitDir: string): Promise<DefaultKey | undefined> {
  const { sandbox, git, documents } = deps
  const project = await documents.get(projectsView, projectId)
  if ('missing' in sandbox || !project) return undefined
  const commit = await commitOf(git, gitDir, `refs/heads/${project.defaultBranch}`)
  if (commit === null) return undefined
  const { settings } = await settingsOf(deps, projectId)
  const keyOf = await keysAt(deps, sandbox, { gitDir, commit, ...settings })
  return { key: keyOf(project.defaultBranch), gitDir, commit }
}

/**
 * The lock files that differ from those of the newest environment of the same setup; empty when they are not known. `undefined` when nothing has to
 * be made again.
 */
export async function changedIn(
  { root, git }: { readonly root: string; readonly git: Git },
  { projectId, key, gitDir, commit }: DefaultKey & { readonly projectId: string },
): Promise<readonly string[] | undefined> {
  const isFor = (by: keyof EnvironmentKey) => (layer: Layer) => key[by].startsWith(layer.key[by])
  const layers = await layersOf(root, projectId)
  const earlier = layers.find(isFor('setup'))
  if (!earlier || layers.some(isFor('setupAndLocks'))) return undefined
  const before = await commitOfLayer(earlier)
  if (before === undefined) return []
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--name-only', before, commit]
  const differing = await git({ gitDir, args, timeoutMs: 10_000, maxOutputBytes: 8 * 1024 ** 2 })
  // The earlier commit may be gone from the mirror.
  if (!endedWell(differing)) return []
  const names = differing.stdout.toString('utf8').split('\0')
  return names.filter((name) => isLockFile(name.split('/').at(-1) ?? ''))
}
