/** Writes a task's files as a git tree. The files are read once; the tree is an object that nothing in the sandbox can change. */
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { GitFault, gitText, lastWords } from '../git/git.ts'
import type { Git, GitCall } from '../git/git.ts'
import { kindAt, treeDifferences } from './indexDifferences.ts'
import type { ScratchIndex, TreeDifferences, TreePath } from './indexDifferences.ts'
import type { Workspace, WorkspaceGit } from '../workspace.ts'

export interface StageRequest extends WorkspaceGit {
  /** The environment that tells git where to write objects; they go into the private git directory by default. */
  readonly env?: Readonly<Record<string, string>>
  /** The time limit of each git call; 300 s by default. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
}

/** A file that differs from the index. */
export interface StagedFile {
  readonly path: TreePath
  readonly size: number
  readonly isNew: boolean
}

export interface StagedTree {
  readonly kind: 'staged'
  /** The git object name of the tree. It contains the tracked files, and the `untracked` ones of `TreeDifferences`. */
  readonly tree: string
  readonly files: readonly StagedFile[]
  readonly nested: TreeDifferences['nested']
}

/** Why the files cannot be committed. The sentence can be shown to the person. */
export interface NotCommittable {
  readonly kind: 'not_committable'
  readonly message: string
}

/** Updates the scratch index to the folder's content, and writes it as a tree. Throws `GitFault`. */
export async function stageTree(
  { git, treeGit, workspace, env, timeoutMs = 300_000, signal }: StageRequest,
  index: ScratchIndex,
): Promise<StagedTree | NotCommittable> {
  // An absent signal is left out, because it would replace the signal that `treeGit` may add.
  const limits = { timeoutMs, ...(signal && { signal }) }
  const on = {
    ...limits,
    gitDir: workspace.privateGitDir,
    workTree: workspace.dir,
    env: { GIT_INDEX_FILE: index.file, ...env },
  }
  const limitedGit: Git = (call) => treeGit({ ...limits, ...call })
  const differences = await treeDifferences(limitedGit, workspace, index, maxNewFiles)
  const { tracked, untracked, nested, submodules } = differences
  if (differences.truncated) return { kind: 'not_committable', message: tooManyFiles }

  const files: StagedFile[] = []
  const paths: Buffer[] = []
  const gone: Buffer[] = []
  for (const [found, isNew] of [
    [tracked, false],
    [untracked, true],
  ] as const)
    for (const path of found) {
      const { kind, size } = await kindAt(workspace, path)
      if (kind === 'file' && size > largestFile)
        return { kind: 'not_committable', message: tooLarge(path.toString('utf8')) }
      // If a pipe or a folder is in the place of a file, the file was deleted.
      if (kind !== 'file' && kind !== 'link') gone.push(path, nul)
      else {
        paths.push(path, nul)
        files.push({ path, size, isNew })
      }
    }
  // A submodule is recorded with its checked-out commit.
  for (const path of submodules) paths.push(path, nul)
  for (const [args, input] of [
    [['update-index', '-z', '--force-remove', '--stdin'], Buffer.concat(gone)],
    [['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], Buffer.concat(paths)],
  ] as const) {
    if (input.length === 0) continue
    const call: GitCall = { ...on, args, input }
    const updated = await treeGit(call)
    if (updated.endedBy !== 'itself') throw new GitFault(call, updated)
    if (updated.code !== 0)
      return { kind: 'not_committable', message: `The changes cannot be committed: ${lastWords(updated)}.` }
  }
  const tree = await gitText(git, { ...on, args: ['write-tree'] })
  return { kind: 'staged', tree, files, nested }
}

/** An environment for git that writes new objects beside a scratch index. The objects are removed with the index. */
export async function scratchObjects(
  workspace: Workspace,
  index: ScratchIndex,
): Promise<Readonly<Record<string, string>>> {
  const objects = join(dirname(index.file), 'objects')
  await mkdir(objects, { recursive: true })
  return {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(workspace.privateGitDir, 'objects'),
  }
}

/** The largest file that can be published, in bytes. GitHub accepts no larger file, but would refuse it only after receiving all of it. */
const largestFile = 100 * 1024 * 1024
const tooLarge = (path: string): string =>
  `${path} is larger than 100 MB, which no code host takes. Remove it, or name it in .gitignore.`

/** More new files than this are dependencies or build output, which nobody wants in a pull request. */
const maxNewFiles = 50_000
const tooManyFiles = `There are more than ${maxNewFiles} new files. List the ones that don't belong in the repository in .gitignore.`

const nul = Buffer.of(0)
