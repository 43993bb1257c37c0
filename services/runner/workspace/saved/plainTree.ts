/** Writes a task's files as a git tree of unfiltered bytes, whatever the repository's attributes say. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isUnreadable, kindAt, splitNul, treeDifferences } from '../changes/indexDifferences.ts'
import type { ScratchIndex, TreeDifferences, TreePath } from '../changes/indexDifferences.ts'
import { gitOrThrow, gitText, type Git } from '../git/git.ts'
import { copyShallow } from '../git/repositoryLayout.ts'
import type { Workspace } from '../workspace.ts'

export interface WorkLimits {
  /** The size limit, in bytes, of the git bundle in which the work is saved. */
  readonly bundleBytes: number
  /** A new or changed file of more bytes is left out of the saved work, and is listed as left out. */
  readonly fileBytes: number
  readonly newFiles: number
}

export const defaultWorkLimits: WorkLimits = {
  bundleBytes: 64 * 1024 ** 2,
  fileBytes: 32 * 1024 ** 2,
  newFiles: 20_000,
}

interface WriteRequest {
  /** A git that may safely read what an agent wrote. */
  readonly treeGit: Git
  readonly workspace: Workspace
  readonly signal?: AbortSignal | undefined
}

type Written =
  | { readonly kind: 'tree'; readonly id: string; readonly leftOut: readonly TreePath[] }
  | { readonly kind: 'too_large'; readonly message: string }

/** Updates the scratch index to the folder's content and writes it as a tree. Files that match the index are not read. Throws `GitFault`. */
export async function writeTree(
  { treeGit, workspace, signal }: WriteRequest,
  plain: PlainGit,
  limits: WorkLimits,
): Promise<Written> {
  const timeoutMs = 300_000
  const limitedGit: Git = (call) => treeGit({ timeoutMs, signal, ...call })
  const differences = await treeDifferences(limitedGit, workspace, plain.index, limits.newFiles)
  if (differences.truncated)
    return { kind: 'too_large', message: `There are more than ${limits.newFiles} new files to keep.` }
  const { present, gone, leftOut, bytes } = await sort(workspace, differences, limits)
  // Text compresses to a fraction of its size, but hardly ever to less than an eighth. So beyond that, the bundle would be too large.
  if (bytes > 8 * limits.bundleBytes) return { kind: 'too_large', message: tooLarge(limits.bundleBytes) }

  const on = { ...plain, timeoutMs, signal }
  if (gone.length > 0)
    await gitOrThrow(treeGit, {
      ...on,
      args: ['update-index', '-z', '--force-remove', '--stdin'],
      input: joinNul(gone),
    })
  const args = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin']
  const added =
    present.length === 0 ? undefined : await gitOrThrow(treeGit, { ...on, args, input: joinNul(present) })
  // git skips a name that it refuses, and only prints a message.
  const refused = added?.stderr.includes('Ignoring path') ? await refusedNames(treeGit, plain, present) : []
  const id = await gitText(treeGit, { ...on, args: ['write-tree'] })
  return { kind: 'tree', id, leftOut: [...leftOut, ...refused] }
}

async function sort(workspace: Workspace, differences: TreeDifferences, limits: WorkLimits) {
  const present: TreePath[] = []
  const gone: TreePath[] = []
  const leftOut: TreePath[] = [...differences.nested, ...differences.submodules]
  let bytes = 0
  for (const path of [...differences.tracked, ...differences.untracked]) {
    const { kind, size } = await kindAt(workspace, path)
    if (kind !== 'file' && kind !== 'link') gone.push(path)
    else if (size > limits.fileBytes) leftOut.push(path)
    else if (kind === 'file' && (await isUnreadable(workspace, path))) leftOut.push(path)
    else {
      bytes += size
      present.push(path)
    }
  }
  return { present, gone, leftOut, bytes }
}

/** Returns those of `paths` whose names git refuses in any index, such as `git~1`. */
async function refusedNames(
  git: Git,
  { gitDir, index }: PlainGit,
  paths: readonly TreePath[],
): Promise<readonly TreePath[]> {
  const on = { gitDir, env: { GIT_INDEX_FILE: join(dirname(index.file), 'probe') } }
  const entries = paths.flatMap((path) => [Buffer.from(`100644 ${emptyBlob}\t`), path, nul])
  const args = ['update-index', '-z', '--replace', '--index-info']
  await gitOrThrow(git, { ...on, args, input: Buffer.concat(entries) })
  const listed = await gitOrThrow(git, { ...on, args: ['ls-files', '-z'] })
  const taken = new Set(splitNul(listed.stdout).whole.map((path) => path.toString('latin1')))
  return paths.filter((path) => !taken.has(path.toString('latin1')))
}

/** The environment in which git treats files as unfiltered bytes. */
export interface PlainGit {
  readonly gitDir: string
  readonly workTree: string
  readonly env: Readonly<Record<string, string>>
  readonly index: ScratchIndex
}

/**
 * Makes a temporary git directory that can read the workspace's objects, and in which no git attribute changes a byte of a file. Objects that are
 * written into it are removed with it. With `keepsObjects`, objects are written into the private git directory instead.
 */
export async function openPlainGit(
  git: Git,
  workspace: Workspace,
  { index, keepsObjects = false }: { readonly index: ScratchIndex; readonly keepsObjects?: boolean },
): Promise<PlainGit> {
  const gitDir = join(dirname(index.file), 'git')
  await gitOrThrow(git, { gitDir, workTree: workspace.dir, args: ['init', '--quiet', '--template='] })
  await mkdir(join(gitDir, 'info'))
  await writeFile(join(gitDir, 'info', 'attributes'), '* -text !eol -ident !filter !working-tree-encoding\n')
  await mkdir(join(gitDir, 'objects', 'info'), { recursive: true })
  const own = join(workspace.privateGitDir, 'objects')
  const alternates = [own, workspace.mirrorObjects].map((dir) => `${dir}\n`).join('')
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), alternates)
  await copyShallow(workspace.privateGitDir, gitDir)
  const kept = keepsObjects
    ? { GIT_OBJECT_DIRECTORY: own, GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects }
    : {}
  return { gitDir, workTree: workspace.dir, env: { GIT_INDEX_FILE: index.file, ...kept }, index }
}

export function joinNul(paths: readonly TreePath[]): Buffer {
  return Buffer.concat(paths.flatMap((path) => [path, nul]))
}

export function tooLarge(bytes: number): string {
  return `The work is larger than ${Math.round(bytes / 1024 ** 2)} MB and is only kept on this runner. Push it to keep it.`
}

const emptyBlob = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
const nul = Buffer.of(0)
