/**
 * Finds work that the agent's own git has in addition to the files of the tree: stashes, other branches, tags, notes and other worktrees. We never
 * run git on that repository, and do not trust its files.
 */
import { lstat, opendir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { readPlain } from '../agentFiles.ts'
import { endedWell, GitFault, type Git, type GitCall } from '../git/git.ts'
import { ifAbsent } from '#platform/files.ts'
import type { Workspace } from '../workspace.ts'

/** The size limit of the file `packed-refs`. Even 100,000 refs need less. */
const largestRefs = 16 * 1024 * 1024
const largestRef = 4_096
/** The limit for refs of all kinds together. A repository with more refs counts as having work that nobody else has. */
const maxRefs = 10_000

/**
 * Whether the agent's git has work that snapshots do not contain, because it is not on the current branch: a stash, another worktree, or a ref with a
 * commit that neither we nor the code host have. This includes a branch at an earlier commit that the agent made on the current branch, since only
 * the agent has that commit. Also true when something in the repository is not as git writes it. Nothing may run in the workspace. Throws `GitFault`.
 */
export async function hasWorkAside(
  git: Git,
  { dir, privateGitDir: gitDir }: Pick<Workspace, 'dir' | 'privateGitDir'>,
): Promise<boolean> {
  const read = await refsIn(await realpath(dir))
  if (read === undefined || read.refs.has('refs/stash')) return true
  const { refs, head } = read
  const itsCommit = refs.get(head) ?? head
  const elsewhere = new Set([...refs.values()].filter((commit) => commit !== itsCommit))
  return elsewhere.size > 0 && isBeyondTheHost(git, gitDir, elsewhere)
}

/**
 * Whether one of the commits is missing from our history and also from the refs that the mirror has from the code host. Needs one process for any
 * number of commits.
 */
async function isBeyondTheHost(git: Git, gitDir: string, commits: ReadonlySet<string>): Promise<boolean> {
  // Known commits come first, so that git reports an error if they cannot be read. HEAD is not among them, because it names no commit in an empty
  // repository.
  const known = ['--not', '--branches', '--remotes', '--alternate-refs', '--not']
  const call: GitCall = {
    gitDir,
    args: ['rev-list', '--max-count=1', ...known, '--stdin', '--'],
    input: [...commits].map((commit) => `${commit}\n`).join(''),
  }
  const found = await git(call)
  if (endedWell(found)) return found.stdout.length > 0
  // git ends with this message if we lack one of the commits. After any other error, our own repository or the mirror may be damaged.
  const [, missing] = /^fatal: bad object ([0-9a-f]{40})\n$/.exec(found.stderr.toString('utf8')) ?? []
  if (found.endedBy === 'itself' && missing !== undefined && commits.has(missing)) return true
  throw new GitFault(call, found)
}

interface AgentRefs {
  /** The commit or tag of each ref, by the ref's full name. Refs of remotes are left out. */
  readonly refs: ReadonlyMap<string, string>
  /** The current ref, or the commit of a detached HEAD. */
  readonly head: string
}

/**
 * Reads refs as gitrepository-layout(5) describes them. There are no refs if there is no repository. Returns `undefined` if the repository is not
 * laid out as by git, or has too many refs.
 */
async function refsIn(root: string): Promise<AgentRefs | undefined> {
  const git = await lstat(join(root, '.git')).catch(ifAbsent)
  if (!git) return { refs: new Map(), head: '' }
  if (!git.isDirectory() || (await hasMorePlaces(root))) return undefined
  const head = await plainText(root, '.git/HEAD', largestRef)
  const written = await plainText(root, '.git/packed-refs', largestRefs)
  const packed = written === null ? new Map<string, string>() : packedRefs(written ?? '')
  const names = await filesBelow(root, '.git/refs')
  if (head === undefined || !packed || !names || packed.size + names.length > maxRefs) return undefined
  const refs = new Map(packed)
  for (const name of names) {
    const [, commit] = /^([0-9a-f]{40})\n$/.exec((await plainText(root, name, largestRef)) ?? '') ?? []
    if (commit === undefined) return undefined
    refs.set(name.slice('.git/'.length), commit)
  }
  return { refs, head: (head ?? '').replace(/^ref: /, '').trimEnd() }
}

/** Whether the repository has refs elsewhere: in another worktree, in the repository that it belongs to, or in a reftable. */
async function hasMorePlaces(root: string): Promise<boolean> {
  for (const name of ['commondir', 'reftable'])
    if (await lstat(join(root, '.git', name)).catch(ifAbsent)) return true
  return (await filesBelow(root, '.git/worktrees'))?.length !== 0
}

/** Parses `packed-refs`; `undefined` unless the whole text is valid. */
function packedRefs(text: string): ReadonlyMap<string, string> | undefined {
  const refs = new Map<string, string>()
  let read = 0
  const lines = text.matchAll(/(?:^#[^\n]*|\^[0-9a-f]{40}|([0-9a-f]{40}) (refs\/[^\n]+))\n/gy)
  for (const [line, id, ref] of lines) {
    read += line.length
    if (id !== undefined && ref !== undefined && !ref.startsWith('refs/remotes/')) refs.set(ref, id)
    if (refs.size > maxRefs) return undefined
  }
  return read > 0 && read === text.length ? refs : undefined
}

/** The text of a file; `null` when there is none, `undefined` when it is not a plain file, too large, or not UTF-8. */
async function plainText(root: string, path: string, maxBytes: number): Promise<string | null | undefined> {
  if (!(await lstat(join(root, path)).catch(ifAbsent))) return null
  const text = (await readPlain(root, path, maxBytes))?.toString('utf8')
  return text === undefined || isUnreadable(text) ? undefined : text
}

const isUnreadable = (text: string): boolean => text.includes('\u{FFFD}')

/**
 * The paths of everything below the folder `top` that is not itself a folder; refs of remotes and lock files are left out. `undefined` if there are
 * too many, if `top` is not a folder, or if something in it cannot be read.
 */
async function filesBelow(root: string, top: string): Promise<readonly string[] | undefined> {
  const there = await lstat(join(root, top)).catch(ifAbsent)
  if (!there) return []
  if (!there.isDirectory()) return undefined
  const found: string[] = []
  const folders = [top]
  let seen = 0
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    // An agent can make folders that cannot be opened because they are too deep, or lack permissions.
    const folder = await opendir(join(root, at)).catch(() => undefined)
    if (!folder) return undefined
    for await (const entry of folder) {
      const path = `${at}/${entry.name}`
      if (path === '.git/refs/remotes') continue
      seen += 1
      // A name that ends in `.lock` is the file to which git first writes a ref. git never lists such a file as a ref.
      const isLock = entry.name.endsWith('.lock') && top === '.git/refs' && !entry.isDirectory()
      if (isLock && seen <= maxRefs) continue
      if (seen > maxRefs || isUnreadable(entry.name)) return undefined
      ;(entry.isDirectory() ? folders : found).push(path)
    }
  }
  return found
}
