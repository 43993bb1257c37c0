/**
 * An environment is the result of a project's setup in a workspace. This file finds the kept environments that fit a workspace, fills the workspace
 * from one of them, and records the state of its setup.
 */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { projectsView } from '#domain/views/projects.ts'
import { ifAbsent } from '#platform/files.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { WorkspaceDeps } from '../deps.ts'
import type { SandboxEnvs } from '../execution/sandboxEnv.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { originOf, type Workspace } from '../workspace/workspace.ts'
import { unpack } from './setupArchive.ts'
import { environmentKey, keyFilesAt, systemOf, type EnvironmentKey } from './environmentKey.ts'
import { archivesIn, findLayer, removeLayer, type Layer } from './layers.ts'

export type EnvironmentDeps = Pick<
  WorkspaceDeps,
  'root' | 'path' | 'git' | 'logger' | 'sandbox' | 'environments'
> & { readonly documents: Pick<Documents, 'get'> }

export interface EnvironmentOf {
  readonly projectId: string
  readonly workspace: Workspace
  readonly envs: Pick<SandboxEnvs, 'setupCommand' | 'variables'>
}

export interface Environment {
  readonly projectId: string
  readonly sandbox: Sandbox
  readonly workspace: Workspace
  /** The commit that the workspace began at. */
  readonly commit: string
  readonly key: EnvironmentKey
  /** The keys of environments that may be used, preferred first: of the workspace's base branch, then of the default branch. */
  readonly usable: readonly EnvironmentKey[]
  readonly isDefaultBranch: boolean
  /** Whether no turn and no command has run in the workspace yet, and nothing was restored into it. */
  readonly isUntouched: boolean
  /**
   * Whether the workspace is untouched and began at the base branch, not at a pushed working branch. Only then may other tasks use what the setup
   * leaves.
   */
  readonly mayBeKept: boolean
}

/**
 * The environment of a workspace; `undefined` for an empty repository, for a deleted project, and without a sandbox. Without a sandbox, each task has
 * paths of its own, and a setup writes these paths into files, so that no other task could use them.
 */
export async function environmentOf(
  deps: EnvironmentDeps,
  { projectId, workspace, envs }: EnvironmentOf,
): Promise<Environment | undefined> {
  const { sandbox } = deps
  const { startCommit: commit, baseBranch, privateGitDir: gitDir } = workspace
  if ('missing' in sandbox || sandbox.kind === 'none' || commit === null) return undefined
  const project = await deps.documents.get(projectsView, projectId)
  if (!project) return undefined
  const keyOf = await keysAt(deps, sandbox, { gitDir, commit, ...envs })
  const key = keyOf(baseBranch)
  const isDefaultBranch = baseBranch === project.defaultBranch
  const origin = await originOf(workspace)
  return {
    projectId,
    sandbox,
    workspace,
    commit,
    key,
    usable: isDefaultBranch ? [key] : [key, keyOf(project.defaultBranch)],
    isDefaultBranch,
    isUntouched: origin !== undefined,
    mayBeKept: origin === 'base',
  }
}

/** Returns the keys of a setup at a commit, as a function of the branch on which it runs. Throws `GitFault`. */
export async function keysAt(
  { git }: Pick<EnvironmentDeps, 'git'>,
  sandbox: Pick<Sandbox, 'kind' | 'imageId'>,
  of: { readonly gitDir: string; readonly commit: string } & EnvironmentOf['envs'],
): Promise<(branch: string) => EnvironmentKey> {
  const identity = {
    command: of.setupCommand.trim(),
    variables: of.variables,
    system: systemOf(sandbox),
    files: await keyFilesAt(git, of.gitDir, of.commit),
  }
  return (branch) => environmentKey({ ...identity, branch })
}

/**
 * Fills an untouched workspace and its home from a kept environment, and returns this environment; `undefined` when none fits, when it cannot be
 * used, or when the signal aborts.
 */
export async function fillFrom(
  { root, path, logger }: EnvironmentDeps,
  { projectId, sandbox, workspace, usable, isUntouched }: Environment,
  {
    by,
    over,
    signal,
  }: { readonly by: keyof EnvironmentKey; readonly over: boolean; readonly signal: AbortSignal },
): Promise<Layer | undefined> {
  if (!isUntouched || signal.aborted) return undefined
  const layer = await findLayer(root, projectId, usable, by)
  try {
    // The mark shows that unpacking has begun. If the server is killed before the end, the next run sees the mark and runs the setup. So incomplete
    // files are not trusted.
    if (layer) await markSetupBegun(workspace)
    if (layer) await unpack(sandbox, workspace, archivesIn(layer.dir), { over, signal })
    return layer
  } catch (fault) {
    if (signal.aborted) return undefined
    // The setup command runs instead, and its result replaces this environment.
    logger.warn({ err: fault, projectId }, 'failed to use an environment that was kept')
    if (layer) await removeLayer(layer.dir, path)
    return undefined
  }
}

/** Fills a workspace before its task exists. The first run of the task says so in its terminal. */
export async function fillAhead(
  deps: EnvironmentDeps,
  of: EnvironmentOf,
  signal: AbortSignal,
): Promise<void> {
  const command = of.envs.setupCommand.trim()
  const environment = command === '' ? undefined : await environmentOf(deps, of)
  const layer =
    environment && (await fillFrom(deps, environment, { by: 'setupAndLocks', over: false, signal }))
  if (layer) await markSetUp(of.workspace, { command, builtAtIfUntold: layer.builtAt })
}

/** How far the setup of a workspace has come, as its marker file says. */
export interface SetupState {
  /** Whether the setup command has succeeded in this workspace, or a kept environment was used instead. */
  readonly isDone: boolean
  /**
   * Set when an environment filled the workspace before its task existed, until a person is told: the time at which that environment was made, in
   * milliseconds since 1970.
   */
  readonly builtAtIfUntold: number | undefined
}

/** Reads the state of the setup of `command`; `undefined` when no setup has begun in the workspace. */
export async function setupStateOf(workspace: Workspace, command: string): Promise<SetupState | undefined> {
  const written = await readFile(markerOf(workspace), 'utf8').catch(ifAbsent)
  if (written === undefined) return undefined
  const [digest = '', builtAtIfUntold] = written.split(' ')
  return {
    isDone: digest === digestOf(command),
    builtAtIfUntold: builtAtIfUntold === undefined ? undefined : Number(builtAtIfUntold),
  }
}

/** Records that a setup has begun. If its success is never recorded, nobody knows what the setup has left in the workspace. */
export const markSetupBegun = (workspace: Workspace): Promise<void> => writeFile(markerOf(workspace), '')

export async function markSetUp(
  workspace: Workspace,
  { command, builtAtIfUntold }: { readonly command: string; readonly builtAtIfUntold?: number },
): Promise<void> {
  await writeFile(
    markerOf(workspace),
    [digestOf(command), ...(builtAtIfUntold === undefined ? [] : [builtAtIfUntold])].join(' '),
  )
}

/** The marker file is beside the tree, where an agent cannot write, and is removed with the workspace. */
function markerOf({ dir }: Workspace): string {
  return join(dirname(dir), 'setup')
}

function digestOf(command: string): string {
  return createHash('sha256').update(command).digest('hex')
}

/** How long ago something was, in words: `5 minutes ago`. */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'less than a minute ago'
  const [count, unit] =
    minutes < 60
      ? [minutes, 'minute']
      : minutes < 48 * 60
        ? [Math.floor(minutes / 60), 'hour']
        : [Math.floor(minutes / (24 * 60)), 'day']
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`
}
