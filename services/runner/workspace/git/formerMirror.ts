/**
 * A workspace names the mirror that it was made on, and another one may be its repository's by now: mirrors were kept by the name alone once,
 * and a repository can be renamed. A new mirror has only what branches and tags reach today; what else the workspace stands on comes along.
 */
import { chmod, lstat, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { commitOf, GitFault, gitOrThrow, gitText, type Git } from './git.ts'
import { unlessMissing } from '../missing.ts'
import { alternatesOf, writeAlternates } from './repositoryLayout.ts'

/** What of a workspace says where its objects are. */
interface Moved {
  readonly privateGitDir: string
  readonly mirrorDir: string
  readonly mirrorObjects: string
  /** The commit it started from; `null` in an empty repository. */
  readonly startCommit: string | null
}

/**
 * Lets the workspace read from its mirror alone. Until all is there, it names the former ones as well, which keeps them: a move that was
 * interrupted, or that git could not make, is tried again the next time. Nothing may run in it.
 */
export async function moveToMirror(git: Git, workspace: Moved): Promise<void> {
  const { privateGitDir, mirrorObjects } = workspace
  const former: string[] = []
  for (const objects of await alternatesOf(privateGitDir))
    // Missing where the data folder was moved. One that only cannot be read now may be read later.
    if (objects !== mirrorObjects && !(await isMissing(objects))) former.push(objects)
  if (former.length > 0) {
    await writeAlternates(privateGitDir, mirrorObjects, ...former)
    const isWhole = await bringAlong(git, workspace, former).then(
      () => true,
      (fault: unknown) => {
        if (fault instanceof GitFault) return false
        throw fault
      },
    )
    if (!isWhole) return
  }
  await writeAlternates(privateGitDir, mirrorObjects)
}

async function bringAlong(
  git: Git,
  { privateGitDir: gitDir, mirrorDir, startCommit }: Moved,
  former: readonly string[],
): Promise<void> {
  const isCut = await takeEndsOfHistory(mirrorDir, former)
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
  await gitOrThrow(git, { gitDir, args: [...packing, '--revs', pack], input, timeoutMs })
  // Whoever runs in a sandbox reads them.
  for (const name of await readdir(dirname(pack)))
    if (name.startsWith('pack-')) await chmod(join(dirname(pack), name), 0o444)
  const own = join(gitDir, 'objects', 'pack', 'pack')
  const rest = revisions([], [...there, ...shared])
  await gitOrThrow(git, { gitDir, args: [...packing, '--all', own], input: rest, timeoutMs })
}

const timeoutMs = 600_000
const packing = ['pack-objects', '--quiet', '--non-empty'] as const
const heads = (...below: readonly string[]) => ['for-each-ref', '--format=%(objectname)', ...below]
const lines = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'))
const revisions = (wanted: readonly string[], had: readonly string[]): string =>
  [...wanted, ...had.map((commit) => `^${commit}`)].map((line) => `${line}\n`).join('')

/** Notes in the mirror where the histories of the former ones end, so that git does not take it for damage; whether its own is cut. */
async function takeEndsOfHistory(mirrorDir: string, former: readonly string[]): Promise<boolean> {
  const own = await endsOf(mirrorDir)
  if (own.length === 0) return false
  const theirs = await Promise.all(former.map((objects) => endsOf(dirname(objects))))
  const all = [...new Set([...own, ...theirs.flat()])]
  if (all.length > own.length) {
    const half = join(mirrorDir, 'shallow.half')
    await writeFile(half, `${all.join('\n')}\n`, { mode: 0o644 })
    await rename(half, join(mirrorDir, 'shallow'))
  }
  return true
}

async function endsOf(gitDir: string): Promise<readonly string[]> {
  return lines((await readFile(join(gitDir, 'shallow'), 'utf8').catch(() => '')).trim())
}

async function isMissing(folder: string): Promise<boolean> {
  const found = await lstat(folder)
    .catch(unlessMissing)
    .catch(() => 'unknown')
  return found === undefined
}
