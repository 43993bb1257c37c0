/**
 * A task's work as one git bundle, from which another runner can continue: our commits beyond the base, and on top of them one commit of the tree as
 * it was, with uncommitted and new files. Ignored files can be made again and are left out.
 */
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { currentBase, mergeBaseOf } from '../changes/changes.ts'
import { commitOf, endedWell, GitFault, gitOrThrow, gitText, lastWords } from '../git/git.ts'
import type { Git, GitCall } from '../git/git.ts'
import { copyShallow } from '../git/repositoryLayout.ts'
import { kindAt, splitNul, treeDifferences, withScratchIndex } from '../changes/tree.ts'
import type { ScratchIndex, TreeDifferences, TreePath } from '../changes/tree.ts'
import { refreshIndex, settleOwner } from '../workspace.ts'
import type { Workspace } from '../workspace.ts'

export interface SaveRequest {
  /** Git on the host, for the history: `hostGit`. */
  readonly git: Git
  /** Git that may read what an agent wrote: `Sandbox.gitFor(workspace)`. */
  readonly treeGit: Git
  readonly workspace: Workspace
  /** `work` of what was saved last: nothing is made when it has not changed. */
  readonly last?: string | undefined
  readonly limits?: WorkLimits
  readonly signal?: AbortSignal
}

export interface WorkLimits {
  /** Of the bundle. */
  readonly bundleBytes: number
  /** A new or changed file above this is left out, and listed. */
  readonly fileBytes: number
  readonly newFiles: number
}

export const defaultWorkLimits: WorkLimits = {
  bundleBytes: 64 * 1024 ** 2,
  fileBytes: 32 * 1024 ** 2,
  newFiles: 20_000,
}

export type SaveResult =
  | {
      readonly kind: 'saved'
      readonly bundle: Buffer
      /** Of the bundle, in hex. */
      readonly sha256: string
      /** The commit of the whole; the same work is the same commit. */
      readonly work: string
      /** Paths that are left out: files over the limit, repositories of their own, names that git refuses. */
      readonly leftOut: readonly string[]
    }
  | { readonly kind: 'unchanged'; readonly work: string }
  /** The sentence is fit to be shown to the person. */
  | { readonly kind: 'too_large'; readonly message: string }

export interface RestoreRequest {
  readonly git: Git
  /** PATH, for the one command that is not git. */
  readonly path: string
  /** Fresh from `prepareWorkspace`; nothing runs in it. */
  readonly workspace: Workspace
  readonly bundle: Uint8Array
}

/** Each message may be shown to the person. After any result but `restored` the workspace must be made anew. */
export type RestoreResult =
  | { readonly kind: 'restored'; readonly head: string | null; readonly leftOut: readonly string[] }
  /** The commits that the work began with are no longer at the code host. */
  | { readonly kind: 'base_gone'; readonly message: string }
  | { readonly kind: 'unreadable'; readonly message: string }

/** Makes the bundle. Nothing in the workspace changes, and nothing of it runs. Not while an agent writes. Throws `GitFault`. */
export async function saveWork(request: SaveRequest): Promise<SaveResult> {
  const { git, workspace, last, signal, limits = defaultWorkLimits } = request
  return withScratchIndex(workspace, async (index) => {
    const plain = await openPlainGit(git, workspace, index)
    const head = await commitOf(git, workspace.privateGitDir, 'HEAD')
    const tree = await writeTree(request, plain, limits)
    if (tree.kind === 'too_large') return tree

    const { leftOut } = tree
    const work = await gitText(git, {
      gitDir: plain.gitDir,
      args: ['commit-tree', ...(head === null ? [] : ['-p', head]), '-F', '-', tree.id],
      env: sameIdentity,
      input: JSON.stringify({ version: 1, branch: workspace.branch, leftOut } satisfies WorkNote),
    })
    if (work === last) return { kind: 'unchanged', work }
    await gitOrThrow(git, { gitDir: plain.gitDir, args: ['update-ref', workRef, work] })

    const base = await currentBase(git, workspace, workspace.baseBranch)
    const known =
      head === null || base === null ? base : await mergeBaseOf(git, workspace.privateGitDir, base, head)
    const call: GitCall = {
      gitDir: plain.gitDir,
      args: [
        'bundle',
        'create',
        '--quiet',
        '--version=2',
        '-',
        workRef,
        ...(known === null ? [] : [`^${known}`]),
      ],
      maxOutputBytes: limits.bundleBytes,
      timeoutMs: 120_000,
      signal,
    }
    const made = await git(call)
    if (made.endedBy === 'output_limit') return { kind: 'too_large', message: tooLarge(limits.bundleBytes) }
    if (!endedWell(made)) throw new GitFault(call, made)
    const sha256 = createHash('sha256').update(made.stdout).digest('hex')
    return { kind: 'saved', bundle: made.stdout, sha256, work, leftOut }
  })
}

/**
 * Restores a bundle into a fresh workspace: branch, index, tree and new files. Git writes the files as plain bytes, and neither follows a link nor
 * writes into a git directory, whatever the bundle contains. Throws `GitFault`.
 */
export async function restoreWork(request: RestoreRequest): Promise<RestoreResult> {
  const { git, workspace, bundle } = request
  if (Buffer.from(bundle.subarray(0, header.length)).toString('latin1') !== header)
    return { kind: 'unreadable', message: 'The saved work is not a bundle.' }
  const opened = await openBundle(git, workspace, bundle)
  if ('message' in opened) return opened

  try {
    await checkOut(git, workspace, opened)
  } catch (fault) {
    // A tree with a path that git never writes, such as `.git/config`.
    if (fault instanceof GitFault && fault.finished.endedBy === 'itself')
      return unreadable(lastWords(fault.finished))
    throw fault
  }
  await settleOwner(workspace, request.path)
  await refreshIndex(git, workspace)
  return { kind: 'restored', head: opened.head, leftOut: opened.note.leftOut }
}

async function checkOut(git: Git, workspace: Workspace, { head, work }: Opened): Promise<void> {
  const { privateGitDir: gitDir, dir: workTree, branch } = workspace
  const before = await commitOf(git, gitDir, 'HEAD')
  if (head !== null && head !== before) {
    const args = ['read-tree', '--reset', '-u', ...(before === null ? [] : [before]), head]
    await gitOrThrow(git, { gitDir, workTree, timeoutMs: 600_000, args })
    const update = `update refs/heads/${branch} ${head} ${before ?? '0'.repeat(40)}\n`
    await gitOrThrow(git, { gitDir, args: ['update-ref', '--stdin'], input: update })
  }
  await withScratchIndex(workspace, async (index) => {
    const plain = await openPlainGit(git, workspace, index)
    // With -m, git would look whether a file is as the index says, and by other rules than it was written by.
    const args = ['read-tree', '--reset', '-u', ...(head === null ? [] : [head]), work]
    await gitOrThrow(git, { ...plain, timeoutMs: 600_000, args })
  })
}

interface Opened {
  readonly work: string
  readonly head: string | null
  readonly note: WorkNote
}

/** Imports the bundle's objects and checks all of them before any file is written. */
async function openBundle(
  git: Git,
  workspace: Workspace,
  bundle: Uint8Array,
): Promise<Opened | Exclude<RestoreResult, { kind: 'restored' }>> {
  const gitDir = workspace.privateGitDir
  const scratch = await mkdtemp(join(gitDir, 'scratch-'))
  try {
    const file = join(scratch, 'bundle')
    await writeFile(file, bundle)
    const taken = await git({ gitDir, args: ['bundle', 'unbundle', file], timeoutMs: 120_000 })
    if (!endedWell(taken))
      return /lacks these prerequisite commits/.test(taken.stderr.toString('utf8'))
        ? { kind: 'base_gone', message: baseGone }
        : unreadable(lastWords(taken))
    const [, work] = new RegExp(`^([0-9a-f]{40}) ${workRef}$`, 'm').exec(taken.stdout.toString('utf8')) ?? []
    if (work === undefined) return unreadable('it names no work')
    const whole = await git({ gitDir, args: ['rev-list', '--objects', '--quiet', work, '--not', '--all'] })
    if (!endedWell(whole)) return unreadable(lastWords(whole))
    const told = await gitText(git, { gitDir, args: ['log', '-1', '--format=%P%n%B', work, '--'] })
    const [parents = '', ...text] = told.split('\n')
    const note = WorkNote.safeParse(parseJson(text.join('\n')))
    if (!note.success || parents.includes(' ')) return unreadable('it is not what was saved here')
    return { work, head: parents === '' ? null : parents, note: note.data }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

type Written =
  | { readonly kind: 'tree'; readonly id: string; readonly leftOut: readonly string[] }
  | { readonly kind: 'too_large'; readonly message: string }

/** Writes the tree as it is. Files that match the index are not read. */
async function writeTree(request: SaveRequest, plain: PlainGit, limits: WorkLimits): Promise<Written> {
  const { treeGit, workspace, signal } = request
  const differences = await treeDifferences(treeGit, workspace, plain.index, limits.newFiles)
  if (differences.truncated)
    return { kind: 'too_large', message: `There are more than ${limits.newFiles} new files to keep.` }
  const { present, gone, leftOut, bytes } = await sort(workspace, differences, limits)
  // Text compresses to a fraction; anything this much larger could not fit.
  if (bytes > 8 * limits.bundleBytes) return { kind: 'too_large', message: tooLarge(limits.bundleBytes) }

  const on = { ...plain, timeoutMs: 300_000, signal }
  if (gone.length > 0)
    await gitOrThrow(treeGit, {
      ...on,
      args: ['update-index', '-z', '--force-remove', '--stdin'],
      input: joinNul(gone),
    })
  const args = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin']
  const added =
    present.length === 0 ? undefined : await gitOrThrow(treeGit, { ...on, args, input: joinNul(present) })
  // Git skips a name that it refuses, and only prints a message.
  const refused = added?.stderr.includes('Ignoring path') ? await refusedNames(treeGit, plain, present) : []
  const id = await gitText(treeGit, { ...on, args: ['write-tree'] })
  return { kind: 'tree', id, leftOut: [...leftOut, ...refused].map((path) => path.toString('utf8')).sort() }
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
    else {
      bytes += size
      present.push(path)
    }
  }
  return { present, gone, leftOut, bytes }
}

/** Names that git accepts in no index, such as `git~1`. */
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

/** What a call needs to treat files as bytes. */
interface PlainGit {
  readonly gitDir: string
  readonly workTree: string
  readonly env: { readonly GIT_INDEX_FILE: string }
  readonly index: ScratchIndex
}

/** A temporary git directory with access to our objects: what it writes is removed with it, and no attribute changes a byte. */
async function openPlainGit(git: Git, workspace: Workspace, index: ScratchIndex): Promise<PlainGit> {
  const gitDir = join(dirname(index.file), 'git')
  await gitOrThrow(git, { gitDir, workTree: workspace.dir, args: ['init', '--quiet', '--template='] })
  await mkdir(join(gitDir, 'info'))
  await writeFile(join(gitDir, 'info', 'attributes'), '* -text !eol -ident !filter !working-tree-encoding\n')
  await mkdir(join(gitDir, 'objects', 'info'), { recursive: true })
  const objects = [join(workspace.privateGitDir, 'objects'), workspace.mirrorObjects]
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), objects.map((dir) => `${dir}\n`).join(''))
  await copyShallow(workspace.mirrorDir, gitDir)
  return { gitDir, workTree: workspace.dir, env: { GIT_INDEX_FILE: index.file }, index }
}

const WorkNote = z.object({
  version: z.literal(1),
  branch: z.string(),
  leftOut: z.array(z.string()).readonly(),
})
type WorkNote = z.infer<typeof WorkNote>

/** No person and no time, so that the same work is the same commit. */
const sameIdentity = {
  GIT_AUTHOR_NAME: 'Flightdeck',
  GIT_AUTHOR_EMAIL: 'noreply@localhost',
  GIT_AUTHOR_DATE: '1970-01-02T00:00:00Z',
  GIT_COMMITTER_NAME: 'Flightdeck',
  GIT_COMMITTER_EMAIL: 'noreply@localhost',
  GIT_COMMITTER_DATE: '1970-01-02T00:00:00Z',
}

const workRef = 'refs/flightdeck/work'
const header = '# v2 git bundle\n'
const emptyBlob = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
const nul = Buffer.of(0)
const baseGone =
  "The commits this work is based on are no longer on the code host, so it can't be restored here."

function joinNul(paths: readonly TreePath[]): Buffer {
  return Buffer.concat(paths.flatMap((path) => [path, nul]))
}

function tooLarge(bytes: number): string {
  return `The work is larger than ${Math.round(bytes / 1024 ** 2)} MB and is only kept on this runner. Push it to keep it.`
}

function unreadable(why: string): Extract<RestoreResult, { kind: 'unreadable' }> {
  return { kind: 'unreadable', message: `The saved work can't be read: ${why}.` }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
