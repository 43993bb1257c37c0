/**
 * Moves a workspace to the present mirror of its repository. The repository may have been renamed since the workspace was made. A new mirror has only
 * the commits that branches and tags reach now. If the workspace is based on other commits, they are copied into the mirror.
 */
import { randomUUID } from 'node:crypto'
import { chmod, lstat, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { ifAbsent } from '#platform/files.ts'
import { commitOf, GitFault, gitOrThrow, gitText, type Git } from './git.ts'
import { alternatesOf, removeHalfPacks, writeAlternates } from './repositoryLayout.ts'

/** The parts of a workspace that say where its objects are. */
export interface Moved {
  readonly privateGitDir: string
  readonly mirrorDir: string
  readonly mirrorObjects: string
  /** The commit that the workspace started from; `null` in an empty repository. */
  readonly startCommit: string | null
}

export interface MoveOptions {
  /** Runs work that writes into the mirror, never at the same time as other such work. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>
  /** Called with the fault of a failed attempt. */
  readonly onFault: (fault: unknown) => void
}

/**
 * Makes the workspace read from its mirror alone. Until all objects are there, the workspace also names the former mirrors, so that they are not
 * removed. An interrupted move is tried again the next time. A failed move is tried again when the workspace has another commit or other mirrors, or
 * an hour has passed. Nothing may run in the workspace.
 */
export async function moveToMirror(git: Git, workspace: Moved, options: MoveOptions): Promise<void> {
  const { privateGitDir, mirrorDir, mirrorObjects } = workspace
  const named = await alternatesOf(privateGitDir)
  const former: string[] = []
  for (const objects of named)
    // A former mirror that is missing, for example because the data folder was moved, is left out. One that cannot be read now is kept, since it may
    // be readable later.
    if (objects !== mirrorObjects && !(await isMissing(objects))) former.push(objects)
  const both = [mirrorObjects, ...former]
  if (!isDeepStrictEqual(named, both)) await writeAlternates(privateGitDir, ...both)
  await addEndsOfHistory(privateGitDir, await endsOf(mirrorDir))
  if (former.length > 0 && (await copyFromFormer(git, workspace, former, options)))
    await writeAlternates(privateGitDir, mirrorObjects)
}

const retryMs = 3_600_000

/**
 * Copies what the workspace still reads from the former mirrors: the commits that the task began with to the present mirror, and all other objects to
 * the workspace's own git directory. Returns whether this succeeded. Never throws: after a failure, the workspace still reads from the former
 * mirrors, too.
 */
async function copyFromFormer(
  git: Git,
  workspace: Moved,
  former: readonly string[],
  { alone, onFault }: MoveOptions,
): Promise<boolean> {
  const note = join(workspace.privateGitDir, 'move-failed')
  let state = ''
  try {
    const head = await commitOf(git, workspace.privateGitDir, 'HEAD')
    state = [workspace.mirrorObjects, ...former, head ?? ''].join('\n')
    // Adds the ends of the former mirrors' shallow histories, even if the move fails later: unless git knows these ends, it takes the missing commits
    // behind them for damage.
    for (const objects of former)
      await addEndsOfHistory(workspace.privateGitDir, await endsOf(dirname(objects)))
    if (await isFresh(note, state)) return false
    await copyObjects(git, workspace, alone)
    await rm(note, { force: true })
    return true
  } catch (fault) {
    // The run was stopped, which is no fault.
    if (fault instanceof GitFault && fault.finished.endedBy === 'aborted') return false
    onFault(fault)
    await writeFile(note, state).catch(onFault)
    return false
  }
}

/** Whether `note` says that a move from `state` failed within the last hour. */
async function isFresh(note: string, state: string): Promise<boolean> {
  const written = await lstat(note).catch(ifAbsent)
  if (!written || Date.now() - written.mtimeMs >= retryMs) return false
  return (await readFile(note, 'utf8')) === state
}

async function copyObjects(git: Git, workspace: Moved, alone: MoveOptions['alone']): Promise<void> {
  const { privateGitDir: gitDir, mirrorDir } = workspace
  const had = await alone(() => packShared(git, workspace))
  await removeHalfPacks(join(gitDir, 'objects'))
  const own = join(gitDir, 'objects', 'pack', 'pack')
  await gitOrThrow(git, { gitDir, args: [...packing, '--all', own], input: revisions([], had), timeoutMs })
  if ((await endsOf(mirrorDir)).length > 0)
    await alone(async () => addEndsOfHistory(mirrorDir, await endsOf(gitDir)))
}

/** Packs the commits that the task began with into the mirror. Returns commits that are in the mirror with everything that they reach. */
async function packShared(
  git: Git,
  { privateGitDir: gitDir, mirrorDir, mirrorObjects, startCommit }: Moved,
): Promise<readonly string[]> {
  await removeHalfPacks(mirrorObjects)
  // Where the mirror's history is cut, ours must end too: otherwise git takes the missing commits for damage.
  await addEndsOfHistory(gitDir, await endsOf(mirrorDir))
  const there = lines(await gitText(git, { gitDir: mirrorDir, args: heads('refs/heads', 'refs/tags') }))
  const began = lines(await gitText(git, { gitDir, args: heads('refs/remotes') }))
  const start = startCommit !== null && (await commitOf(git, gitDir, startCommit)) ? [startCommit] : []
  // Every agent's git reads the mirror, so only commits from the code host may go there, and none that the task made.
  const shared = [...start, ...began]
  const packs = join(mirrorObjects, 'pack')
  // Tells git to skip the objects in the packs of the mirror. Leaving out what the mirror's branches reach would not be enough, since some objects
  // were copied for other workspaces.
  const kept = (await readdir(packs)).filter((name) => name.endsWith('.pack'))
  const made = await gitText(git, {
    gitDir,
    // git writes into the mirror's object store here, because it skips kept packs only in the store to which it writes.
    env: { GIT_OBJECT_DIRECTORY: mirrorObjects, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(gitDir, 'objects') },
    args: [...packing, '--revs', ...kept.map((name) => `--keep-pack=${name}`), join(packs, 'pack')],
    input: revisions(shared, there),
    timeoutMs,
  })
  // The sandboxes' users must be able to read the packs.
  for (const id of lines(made))
    for (const part of ['pack', 'rev', 'idx'])
      await chmod(join(packs, `pack-${id}.${part}`), 0o444).catch(ifAbsent)
  return [...there, ...shared]
}

const timeoutMs = 600_000
const packing = ['pack-objects', '--quiet', '--non-empty'] as const
const heads = (...below: readonly string[]) => ['for-each-ref', '--format=%(objectname)', ...below]
const lines = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'))
const revisions = (commits: readonly string[], had: readonly string[]): string =>
  [...commits, ...had.map((commit) => `^${commit}`)].map((line) => `${line}\n`).join('')

/**
 * Tells git at which commits the shallow history ends, by adding `ends` to the git directory. Otherwise git would report the parents of these
 * commits, which were not fetched, as damage.
 */
async function addEndsOfHistory(gitDir: string, ends: readonly string[]): Promise<void> {
  const own = await endsOf(gitDir)
  const all = [...new Set([...own, ...ends])]
  if (all.length === own.length) return
  // If the process is killed here, the next refresh or the next start of the runner removes the lock file.
  const half = join(gitDir, `shallow-${randomUUID()}.lock`)
  await writeFile(half, `${all.join('\n')}\n`, { mode: 0o644 })
  await rename(half, join(gitDir, 'shallow'))
}

async function endsOf(gitDir: string): Promise<readonly string[]> {
  const written = await readFile(join(gitDir, 'shallow'), 'utf8').catch(ifAbsent)
  return lines((written ?? '').trim())
}

async function isMissing(folder: string): Promise<boolean> {
  const found = await lstat(folder)
    .catch(ifAbsent)
    .catch(() => 'unknown')
  return found === undefined
}
