/** Rebases a task's work onto commits that others pushed to its branch. Conflicts are found before anything is changed. */
import { endedWell, GitFault, gitOrThrow, gitText } from '../git/git.ts'
import { withScratchIndex } from '../changes/indexDifferences.ts'
import type { WorkspaceGit } from '../workspace.ts'
import { commitAs, type CommitSigner, type Person } from './commitIdentity.ts'

export interface RebaseRequest extends WorkspaceGit {
  /** Our last commit. The tree matches it, except for files that were never committed, and contents that it has as pointers of Git LFS. */
  readonly head: string
  readonly onto: string
  /** The committer of the new commit, unless this server signs commits. Its author is that of `head`. */
  readonly committer: Person
  readonly signer: CommitSigner | undefined
  /** Applies the whole patch to the tree, or changes nothing and returns the reason. */
  readonly applyPatch: (patch: Buffer) => Promise<string | null>
}

export type RebaseResult =
  | { readonly kind: 'rebased'; readonly head: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  /** The tree could not be changed; `why` is worded to follow a colon. */
  | { readonly kind: 'not_applied'; readonly why: string }

/** The size limit of a patch in bytes. A larger patch is not applied. */
const largestPatch = 64 * 1024 * 1024

/**
 * Makes one commit on top of `onto` with everything that the host does not have, and with the message of our last commit. Then applies the changes of
 * others to the tree, the index and the branch. If their commits already contain the work, no commit is made. So an interrupted rebase can simply be
 * repeated. Throws `GitFault`.
 */
export async function rebase(request: RebaseRequest): Promise<RebaseResult> {
  const { git, treeGit, workspace, head, onto, committer, signer, applyPatch } = request
  const gitDir = workspace.privateGitDir
  const found = await git({ gitDir, args: ['merge-base', head, onto] })
  if (!endedWell(found)) return { kind: 'not_applied', why: 'they have no commit in common with it' }

  const tree = await mergedTree(request)
  if (typeof tree !== 'string') return tree
  const isInTheirs = tree === (await gitText(git, { gitDir, args: ['rev-parse', `${onto}^{tree}`] }))
  const rebased = isInTheirs ? onto : await sameCommit(request, tree)

  const call = {
    gitDir,
    workTree: workspace.dir,
    args: [
      'diff',
      '--binary',
      '--full-index',
      '--no-renames',
      '--no-color',
      '--no-ext-diff',
      '--no-textconv',
      '--ignore-submodules=all',
      head,
      rebased,
      '--',
    ],
    maxOutputBytes: largestPatch,
  }
  const patch = await treeGit(call)
  if (patch.endedBy === 'output_limit') return { kind: 'not_applied', why: 'they are too large' }
  if (!endedWell(patch)) throw new GitFault(call, patch)
  const why = patch.stdout.length === 0 ? null : await applyPatch(patch.stdout)
  if (why !== null) return { kind: 'not_applied', why }

  await withScratchIndex(workspace, async (index) => {
    const env = { GIT_INDEX_FILE: index.file }
    await gitOrThrow(git, { gitDir, env, args: ['read-tree', '-i', '-m', head, rebased] })
    await index.keep()
  })
  const update = `update refs/heads/${workspace.branch} ${rebased} ${head}\n`
  await gitOrThrow(git, {
    gitDir,
    env: commitAs(committer, signer).env,
    args: ['update-ref', '--stdin'],
    input: update,
  })
  return { kind: 'rebased', head: rebased }
}

/** Merges the files of `head` and `onto`, with their common commit as the base. */
async function mergedTree({
  treeGit,
  workspace,
  head,
  onto,
}: RebaseRequest): Promise<string | Extract<RebaseResult, { kind: 'conflict' }>> {
  const call = {
    gitDir: workspace.privateGitDir,
    workTree: workspace.dir,
    args: ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', onto, head],
  }
  const merged = await treeGit(call)
  const [tree = '', ...files] = merged.stdout.toString('utf8').split('\0').filter(Boolean)
  if (endedWell(merged)) return tree
  if (merged.endedBy !== 'itself' || merged.code !== 1) throw new GitFault(call, merged)
  return { kind: 'conflict', files: [...new Set(files)] }
}

/** Makes a commit of `tree` whose parent is `onto`, with the message and author of `head`. */
async function sameCommit(
  { git, workspace, committer, signer, head, onto }: RebaseRequest,
  tree: string,
): Promise<string> {
  const gitDir = workspace.privateGitDir
  const shown = await gitText(git, {
    gitDir,
    args: ['show', '--no-patch', '--date=raw', '--format=%an%x00%ae%x00%ad%x00%B', head],
  })
  const [name = '', email = '', date = '', ...message] = shown.split('\0')
  const { settings, flags, env } = commitAs(committer, signer)
  return gitText(git, {
    gitDir,
    args: [...settings, 'commit-tree', ...flags, '-p', onto, '-F', '-', tree],
    env: { ...env, GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date },
    input: `${message.join('\0')}\n`,
  })
}
