/** How a workspace's tree differs from its index: found without following a link, opening a pipe or entering a repository that came from elsewhere. */
import { copyFile, lstat, mkdtemp, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ifAbsent } from '#platform/files.ts'
import { endedWell, gitOrThrow } from '../git/git.ts'
import type { Git } from '../git/git.ts'
import type { Workspace } from '../workspace.ts'

/** A path as git prints it: bytes, relative to the tree. */
export type TreePath = Buffer

export interface TreeDifferences {
  /** Tracked by the index and different from it: changed, gone, or of another kind. Sorted. */
  readonly tracked: readonly TreePath[]
  /** Submodules that are checked out at another commit. */
  readonly submodules: readonly TreePath[]
  /** New files that are not ignored, also those of a new repository that was begun here: they are nowhere else. */
  readonly untracked: readonly TreePath[]
  /** New folders that are repositories of their own and name a remote, or cannot be looked into. They are not read. */
  readonly nested: readonly TreePath[]
  /** Whether there are more new files than could be listed. */
  readonly truncated: boolean
}

/** A private copy of the index for one reading: the workspace's index is only ever replaced as a whole. */
export interface ScratchIndex {
  /** For `GIT_INDEX_FILE`. */
  readonly file: string
  /** Makes the copy, as it is now, the workspace's index. */
  keep(): Promise<void>
  /** Does the same for a copy that was only refreshed, unless the workspace's index was replaced meanwhile. */
  keepRefreshed(): Promise<void>
}

/** Lends a copy of the workspace's index, and removes it afterwards. */
export async function withScratchIndex<T>(
  workspace: Workspace,
  use: (index: ScratchIndex) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(workspace.privateGitDir, 'scratch-'))
  const file = join(dir, 'index')
  const own = join(workspace.privateGitDir, 'index')
  try {
    let copied = await markOf(own)
    await copyIndex(own, file)
    const keep = async () => {
      await copyIndex(file, join(dir, 'kept'))
      await rename(join(dir, 'kept'), own).catch(ifAbsent)
      copied = await markOf(own)
    }
    return await use({
      file,
      keep,
      keepRefreshed: async () => {
        if ((await markOf(own)) === copied) await keep()
      },
    })
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** Compares tree and index, and lists about `maxUntracked` new files at most. Throws `GitFault`. */
export async function treeDifferences(
  git: Git,
  workspace: Workspace,
  index: ScratchIndex,
  maxUntracked: number,
): Promise<TreeDifferences> {
  const on = { gitDir: workspace.privateGitDir, workTree: workspace.dir, env: { GIT_INDEX_FILE: index.file } }
  await gitOrThrow(git, { ...on, args: ['update-index', '-q', '--refresh', '--ignore-submodules'] })
  await index.keepRefreshed()
  // Only a submodule's HEAD is read, which starts no program.
  const changed = await gitOrThrow(git, {
    ...on,
    args: ['diff-files', '-z', '--raw', '--ignore-submodules=dirty'],
  })
  const found: TreePath[] = []
  let rest: Buffer = Buffer.alloc(0)
  const untracked = await git({
    ...on,
    args: ['ls-files', '-z', '--others', '--exclude-standard'],
    onStdout: (chunk) => {
      const paths = splitNul(Buffer.concat([rest, chunk]))
      rest = paths.rest
      found.push(...paths.whole)
      return found.length > maxUntracked ? 'enough' : 'more'
    },
  })
  const truncated = untracked.endedBy === 'reader'
  if (!truncated && (untracked.endedBy !== 'itself' || untracked.code !== 0))
    await gitOrThrow(async () => untracked, { args: ['ls-files'] })
  const begun = await filesBegunHere(git, workspace, index, found.filter(isFolder))
  const files = [...found.filter((path) => !isFolder(path)), ...begun.files]
  return {
    ...trackedIn(splitNul(changed.stdout).whole),
    untracked: files,
    nested: begun.others,
    truncated: truncated || files.length > maxUntracked,
  }
}

/** More new repositories than this are not looked into. */
const maxNested = 20

/** The files of new repositories without a remote, as `git init` makes them; the other repositories are only named. */
async function filesBegunHere(
  git: Git,
  workspace: Workspace,
  index: ScratchIndex,
  folders: readonly TreePath[],
): Promise<{ readonly files: readonly TreePath[]; readonly others: readonly TreePath[] }> {
  const files: TreePath[] = []
  const others: TreePath[] = []
  for (const [count, folder] of folders.entries()) {
    const own = count < maxNested ? await filesOfRepository(git, workspace, index, folder) : undefined
    // A repository without files has a history at most, which only its own folder keeps.
    if (own === undefined || own.length === 0) others.push(folder)
    else for (const path of own) (isFolder(path) ? others : files).push(Buffer.concat([folder, path]))
  }
  return { files, others }
}

/** `undefined` for a repository with a remote, and if that cannot be told. */
async function filesOfRepository(
  git: Git,
  workspace: Workspace,
  index: ScratchIndex,
  folder: TreePath,
): Promise<readonly TreePath[] | undefined> {
  const name = folder.toString('utf8')
  const config = `${name}.git/config`
  if (!Buffer.from(name).equals(folder)) return undefined
  if ((await kindAt(workspace, Buffer.from(config))).kind !== 'file') return undefined
  const on = { gitDir: workspace.privateGitDir, timeoutMs: 10_000 }
  const named = [
    'config',
    '--no-includes',
    '--file',
    join(workspace.dir, config),
    '--get-regexp',
    '^remote\\.',
  ]
  const remotes = await git({ ...on, args: named })
  // Git exits with 1 when nothing matches.
  if (remotes.endedBy !== 'itself' || remotes.code !== 1) return undefined
  const listed = await git({
    ...on,
    workTree: join(workspace.dir, name),
    // It has no index of ours: every file in it is new.
    env: { GIT_INDEX_FILE: join(dirname(index.file), 'no-index') },
    args: ['-C', join(workspace.dir, name), 'ls-files', '-z', '--others', '--exclude-standard'],
  })
  return endedWell(listed) ? splitNul(listed.stdout).whole : undefined
}

/** Sorts the output of `diff-files --raw`: a record, then its path. */
function trackedIn(fields: readonly Buffer[]): Pick<TreeDifferences, 'tracked' | 'submodules'> {
  const tracked: TreePath[] = []
  const submodules: TreePath[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const record = fields[at]?.toString('latin1') ?? ''
    const path = fields[at + 1]
    if (path) (record.startsWith(':160000 160000 ') ? submodules : tracked).push(path)
  }
  return { tracked, submodules }
}

/**
 * The kind and size of what is at a path of the tree. Only the entry itself is read. Nothing is below a link: what it leads to is not part of the
 * tree.
 */
export async function kindAt(
  workspace: Workspace,
  path: TreePath,
): Promise<{ readonly kind: 'file' | 'link' | 'folder' | 'special' | 'missing'; readonly size: number }> {
  const at = (inTree: TreePath) =>
    lstat(Buffer.concat([Buffer.from(`${workspace.dir}/`), inTree])).catch(() => undefined)
  for (let slash = path.indexOf(0x2f); slash !== -1; slash = path.indexOf(0x2f, slash + 1))
    if (!(await at(path.subarray(0, slash)))?.isDirectory()) return { kind: 'missing', size: 0 }
  const entry = await at(path)
  if (!entry) return { kind: 'missing', size: 0 }
  const kind = entry.isFile()
    ? 'file'
    : entry.isSymbolicLink()
      ? 'link'
      : entry.isDirectory()
        ? 'folder'
        : 'special'
  return { kind, size: entry.size }
}

/** Splits text that ends each part with NUL; `rest` is what came after the last one. */
export function splitNul(bytes: Buffer): { readonly whole: Buffer[]; readonly rest: Buffer } {
  const whole: Buffer[] = []
  let start = 0
  for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
    whole.push(bytes.subarray(start, end))
    start = end + 1
  }
  return { whole, rest: bytes.subarray(start) }
}

const isFolder = (path: TreePath): boolean => path.at(-1) === 0x2f

/**
 * Git treats a file that was modified in the second its index was written as possibly changed, and reads it. A copy with a later time would hide
 * such a change, so it keeps the time, rounded down.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const written = await stat(from).catch(ifAbsent)
  // An empty repository has no index yet.
  if (!written) return
  await copyFile(from, to)
  const seconds = Math.floor(written.mtimeMs / 1000)
  await utimes(to, seconds, seconds)
}

/** Differs for each version of a file. */
async function markOf(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(ifAbsent)
  return found && `${found.ino} ${found.ctimeMs} ${found.size}`
}
