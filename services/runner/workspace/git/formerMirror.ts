/**
 * A workspace names the mirror that it was made on, and another one may be its repository's by now: mirrors were kept by the name alone once,
 * and a repository can be renamed. A new mirror has only what branches and tags reach today; what else the workspace stands on comes along.
 */
import { randomUUID } from 'node:crypto'
import { chmod, lstat, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { unlessMissing } from '../missing.ts'
import { commitOf, GitFault, gitOrThrow, gitText, type Git } from './git.ts'
import { alternatesOf, writeAlternates } from './repositoryLayout.ts'

/** What of a workspace says where its objects are. */
export interface Moved {
  readonly privateGitDir: string
  readonly mirrorDir: string
  readonly mirrorObjects: string
  /** The commit it started from; `null` in an empty repository. */
  readonly startCommit: string | null
}

export interface MoveOptions {
  /** Runs what writes into the mirror, with nothing else that does beside it. */
  readonly alone: (work: () => Promise<void>) => Promise<void>
  /** Called with what a try failed of. */
  readonly onFault: (fault: unknown) => void
}

/**
 * Lets the workspace read from its mirror alone. Until all is there, it names the former ones as well, which keeps them: a move that was
 * interrupted is tried again the next time, and one that failed once the workspace has changed or an hour has passed. Nothing may run in it.
 */
export async function moveToMirror(git: Git, workspace: Moved, options: MoveOptions): Promise<void> {
  const { privateGitDir, mirrorObjects } = workspace
  const named = await alternatesOf(privateGitDir)
  const former: string[] = []
  for (const objects of named)
    // Missing where the data folder was moved. One that only cannot be read now may be read later.
    if (objects !== mirrorObjects && !(await isMissing(objects))) former.push(objects)
  const both = [mirrorObjects, ...former]
  if (!isDeepStrictEqual(named, both)) await writeAlternates(privateGitDir, ...both)
  if (former.length > 0 && (await isBroughtAlong(git, workspace, former, options)))
    await writeAlternates(privateGitDir, mirrorObjects)
}

const againMs = 3_600_000

/** Whether all is in the mirror now. Never throws: with both, the workspace is as whole as before. */
async function isBroughtAlong(
  git: Git,
  workspace: Moved,
  former: readonly string[],
  { alone, onFault }: MoveOptions,
): Promise<boolean> {
  const note = join(workspace.privateGitDir, 'move-failed')
  let stands = ''
  try {
    const head = await commitOf(git, workspace.privateGitDir, 'HEAD')
    stands = [workspace.mirrorObjects, ...former, head ?? ''].join('\n')
    if (await isFresh(note, stands)) return false
    await alone(() => bringAlong(git, workspace, former))
    await rm(note, { force: true })
    return true
  } catch (fault) {
    // Somebody stopped the run.
    if (fault instanceof GitFault && fault.finished.endedBy === 'aborted') return false
    onFault(fault)
    await writeFile(note, stands).catch(onFault)
    return false
  }
}

/** Whether the move of what stands like this has failed within the hour. */
async function isFresh(note: string, stands: string): Promise<boolean> {
  const written = await lstat(note).catch(unlessMissing)
  if (!written || Date.now() - written.mtimeMs >= againMs) return false
  return (await readFile(note, 'utf8')) === stands
}

async function bringAlong(
  git: Git,
  { privateGitDir: gitDir, mirrorDir, startCommit }: Moved,
  former: readonly string[],
): Promise<void> {
  const ends = await endsOf(mirrorDir)
  const isCut = ends.length > 0
  // Where the history of the mirror ends early, a commit before its branches is not in it.
  const there = isCut
    ? []
    : lines(await gitText(git, { gitDir: mirrorDir, args: heads('refs/heads', 'refs/tags') }))
  const began = lines(await gitText(git, { gitDir, args: heads('refs/remotes') }))
  const start = startCommit !== null && (await commitOf(git, gitDir, startCommit)) ? [startCommit] : []
  // The agent's git reads the mirror too: where it began was the code host's. What the task made of that is nobody else's.
  const shared = [...start, ...began]
  const pack = join(mirrorDir, 'objects', 'pack', 'pack')
  const input = revisions(shared, there)
  const made = await gitText(git, { gitDir, args: [...packing, '--revs', pack], input, timeoutMs })
  // Whoever runs in a sandbox reads them.
  for (const id of lines(made))
    for (const part of ['pack', 'rev', 'idx'])
      await chmod(`${pack}-${id}.${part}`, 0o444).catch(unlessMissing)
  const own = join(gitDir, 'objects', 'pack', 'pack')
  const rest = revisions([], [...there, ...shared])
  await gitOrThrow(git, { gitDir, args: [...packing, '--all', own], input: rest, timeoutMs })
  if (isCut) await addEndsOfHistory(mirrorDir, ends, former)
}

const timeoutMs = 600_000
const packing = ['pack-objects', '--quiet', '--non-empty'] as const
const heads = (...below: readonly string[]) => ['for-each-ref', '--format=%(objectname)', ...below]
const lines = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'))
const revisions = (wanted: readonly string[], had: readonly string[]): string =>
  [...wanted, ...had.map((commit) => `^${commit}`)].map((line) => `${line}\n`).join('')

/** Notes in the mirror where the histories of the former ones end, so that git does not take it for damage. */
async function addEndsOfHistory(
  mirrorDir: string,
  own: readonly string[],
  former: readonly string[],
): Promise<void> {
  const theirs = await Promise.all(former.map((objects) => endsOf(dirname(objects))))
  const all = [...new Set([...own, ...theirs.flat()])]
  if (all.length === own.length) return
  // A refresh removes the locks that are left.
  const half = join(mirrorDir, `shallow-${randomUUID()}.lock`)
  await writeFile(half, `${all.join('\n')}\n`, { mode: 0o644 })
  await rename(half, join(mirrorDir, 'shallow'))
}

async function endsOf(gitDir: string): Promise<readonly string[]> {
  const written = await readFile(join(gitDir, 'shallow'), 'utf8').catch(unlessMissing)
  return lines((written ?? '').trim())
}

async function isMissing(folder: string): Promise<boolean> {
  const found = await lstat(folder)
    .catch(unlessMissing)
    .catch(() => 'unknown')
  return found === undefined
}
