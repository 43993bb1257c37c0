/** Finds the differences between a workspace's tree and its index. Follows no links, opens no pipes, and enters no repositories from elsewhere. */
import { access, constants, copyFile, lstat, mkdtemp, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { artifactFolder } from '#domain/api/artifacts.ts'
import { ifAbsent } from '#platform/files.ts'
import { endedWell, gitOrThrow } from '../git/git.ts'
import type { Git } from '../git/git.ts'
import type { Workspace } from '../workspace.ts'

/** A path as git prints it: bytes, relative to the tree. */
export type TreePath = Buffer

export interface TreeDifferences {
  /** Paths in the index that differ in the tree: changed, deleted, or of another kind. Sorted. */
  readonly tracked: readonly TreePath[]
  /** Paths of submodules that are checked out at another commit than the index names. */
  readonly submodules: readonly TreePath[]
  /** New files that are not ignored, without artifacts. Includes the files of a new repository without a remote, because they exist nowhere else. */
  readonly untracked: readonly TreePath[]
  /** New repositories that have a remote or no files, are inside of another new repository, or were not inspected. Their files are not read. */
  readonly nested: readonly TreePath[]
  /** Whether there are more new files than could be listed. */
  readonly truncated: boolean
}

/** A private copy of the index for one reading. The workspace's index is only ever replaced as a whole. */
export interface ScratchIndex {
  /** The path of the copy, for `GIT_INDEX_FILE`. */
  readonly file: string
  /** Replaces the workspace's index with the present copy. */
  keep(): Promise<void>
  /** Like `keep`, for a copy that was only refreshed. Does nothing if the workspace's index was replaced. */
  keepRefreshed(): Promise<void>
}

/** Calls a function with a copy of the workspace's index, and removes the copy afterwards. */
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

/** Compares tree and index. Lists at most about `maxUntracked` new files, apart from those in new repositories. Throws `GitFault`. */
export async function treeDifferences(
  git: Git,
  workspace: Workspace,
  index: ScratchIndex,
  maxUntracked: number,
): Promise<TreeDifferences> {
  const on = { gitDir: workspace.privateGitDir, workTree: workspace.dir, env: { GIT_INDEX_FILE: index.file } }
  await gitOrThrow(git, { ...on, args: ['update-index', '-q', '--refresh', '--ignore-submodules'] })
  await index.keepRefreshed()
  const found: TreePath[] = []
  let rest: Buffer = Buffer.alloc(0)
  const [changed, untracked] = await Promise.all([
    // With `--ignore-submodules=dirty`, git reads only the HEAD of a submodule, and so starts no program.
    gitOrThrow(git, { ...on, args: ['diff-files', '-z', '--raw', '--ignore-submodules=dirty'] }),
    git({
      ...on,
      args: ['ls-files', '-z', '--others', '--exclude-standard'],
      onStdout: (chunk) => {
        const paths = splitNul(Buffer.concat([rest, chunk]))
        rest = paths.rest
        found.push(...paths.whole.filter((path) => !isArtifact(path)))
        return found.length > maxUntracked ? 'enough' : 'more'
      },
    }),
  ])
  const truncated = untracked.endedBy === 'reader'
  if (!truncated && (untracked.endedBy !== 'itself' || untracked.code !== 0))
    await gitOrThrow(async () => untracked, { args: ['ls-files'] })
  const begun = await filesBegunHere(git, workspace, index, found.filter(isFolder))
  const files = [
    ...found.filter((path) => !isFolder(path)),
    ...begun.files.filter((path) => !isArtifact(path)),
  ]
  return {
    ...trackedIn(splitNul(changed.stdout).whole),
    untracked: files,
    nested: begun.others,
    truncated: truncated || files.length > maxUntracked,
  }
}

/** At most this many new repositories in the workspace are inspected. */
const maxNested = 20

/**
 * Splits new repositories in the workspace: `files` has the files of those without a remote, such as `git init` makes; `others` has the paths of all
 * other new repositories.
 */
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
    // A repository without files may still have commits, and only its own folder has them.
    if (own === undefined || own.length === 0) others.push(folder)
    else for (const path of own) (isFolder(path) ? others : files).push(Buffer.concat([folder, path]))
  }
  return { files, others }
}

/** The files of a repository; `undefined` if it has a remote, or cannot be inspected. */
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
  // git exits with 1 when no setting names a remote. After any other end, the repository has a remote, or may have one.
  if (remotes.endedBy !== 'itself' || remotes.code !== 1) return undefined
  const listed = await git({
    ...on,
    workTree: join(workspace.dir, name),
    // This index does not exist, so git lists every file as new.
    env: { GIT_INDEX_FILE: join(dirname(index.file), 'no-index') },
    args: ['-C', join(workspace.dir, name), 'ls-files', '-z', '--others', '--exclude-standard'],
  })
  return endedWell(listed) ? splitNul(listed.stdout).whole : undefined
}

/** Divides the output of `diff-files --raw` into files and submodules. Each record in it is followed by its path. */
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
 * The kind and size of the entry at a path of the tree; a link is not followed. A path below a link counts as missing, since the target of the link
 * is not part of the tree.
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

/** Whether a file of the tree cannot be read, such as one of mode 000. Only root can read every file. */
export function isUnreadable(workspace: Workspace, path: TreePath): Promise<boolean> {
  return access(Buffer.concat([Buffer.from(`${workspace.dir}/`), path]), constants.R_OK).then(
    () => false,
    (fault: unknown) => fault instanceof Error && 'code' in fault && fault.code === 'EACCES',
  )
}

/** Splits text whose parts end with NUL; `rest` is the text after the last NUL. */
export function splitNul(bytes: Buffer): { readonly whole: Buffer[]; readonly rest: Buffer } {
  const whole: Buffer[] = []
  let start = 0
  for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
    whole.push(bytes.subarray(start, end))
    start = end + 1
  }
  return { whole, rest: bytes.subarray(start) }
}

/** Whether a new file is an artifact. The names are compared here, since a `.gitignore` of the agent could undo any rule of ours. */
const isArtifact = (path: TreePath): boolean => `${path.toString('latin1')}/`.startsWith(`${artifactFolder}/`)

const isFolder = (path: TreePath): boolean => path.at(-1) === 0x2f

/**
 * Copies an index with its modification time, rounded down to a second. git compares the content of files that were modified in that second or
 * later. If the copy had a later time, git would miss changes.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const written = await stat(from).catch(ifAbsent)
  // An empty repository has no index before the first commit.
  if (!written) return
  await copyFile(from, to)
  const seconds = Math.floor(written.mtimeMs / 1000)
  await utimes(to, seconds, seconds)
}

/** A value that differs for each version of a file. */
async function markOf(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(ifAbsent)
  return found && `${found.ino} ${found.ctimeMs} ${found.size}`
}
