/**
 * Saves a task's work as one git bundle, from which another runner can continue. The bundle has our commits beyond the base. On top of them is one
 * commit of the whole tree, with uncommitted and new files. Ignored files are left out, since they can be made again.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { currentBase, mergeBaseOf } from '../changes/changes.ts'
import type { Finished } from '#platform/childProcess.ts'
import { commitOf, endedWell, GitFault, gitOrThrow, gitText } from '../git/git.ts'
import type { Git, GitCall } from '../git/git.ts'
import { withScratchIndex } from '../changes/indexDifferences.ts'
import { defaultWorkLimits, openPlainGit, tooLarge, writeTree, type WorkLimits } from './plainTree.ts'
import { parseJson, refreshIndex, settleOwner } from '../workspace.ts'
import type { Workspace, WorkspaceGit } from '../workspace.ts'

export interface SaveRequest extends WorkspaceGit {
  /** The commit `work` of the last save. If this save makes the same commit, it makes no bundle. */
  readonly last?: string | undefined
  /** A ref in the private git directory that keeps the work there as well. */
  readonly keepAs?: string
  readonly limits?: WorkLimits
  readonly signal?: AbortSignal
}

export type SaveResult =
  | {
      readonly kind: 'saved'
      readonly bundle: Buffer
      /** The commit with all of the work; equal work has the same commit. */
      readonly work: string
      /** Paths that are left out: files over the limit or that cannot be read, nested repositories, submodules, and names that git refuses. */
      readonly leftOut: readonly string[]
    }
  | { readonly kind: 'unchanged'; readonly work: string; readonly leftOut: readonly string[] }
  /** The work is too large to be saved. The sentence can be shown to the person. */
  | { readonly kind: 'too_large'; readonly message: string }

export interface RestoreRequest {
  readonly git: Git
  /** The `PATH` in which a restore finds `chown`, the only program that it runs besides git. */
  readonly path: string
  /** A new workspace from `createOrFindWorkspace`, in which nothing runs. */
  readonly workspace: Workspace
  readonly bundle: Uint8Array
}

/**
 * The result of a restore. Each message can be shown to the person. After any result but `restored`, and after a fault, the workspace must be made
 * again.
 */
export type RestoreResult =
  | { readonly kind: 'restored'; readonly head: string | null; readonly leftOut: readonly string[] }
  /** The commits that the work began from are no longer at the code host. */
  | { readonly kind: 'base_gone'; readonly message: string }
  | { readonly kind: 'unreadable'; readonly message: string }

/** Makes the bundle. Changes nothing in the tree, and runs nothing of it. Must not run while an agent writes. Throws `GitFault`. */
export async function saveWork(request: SaveRequest): Promise<SaveResult> {
  const { git, workspace, last, signal, limits = defaultWorkLimits } = request
  return withScratchIndex(workspace, async (index) => {
    const plain = await openPlainGit(git, workspace, { index, keepsObjects: request.keepAs !== undefined })
    const head = await commitOf(git, workspace.privateGitDir, 'HEAD')
    const tree = await writeTree(request, plain, limits)
    if (tree.kind === 'too_large') return tree

    const leftOut = tree.leftOut.map((path) => path.toString('utf8')).sort()
    const work = await gitText(git, {
      gitDir: plain.gitDir,
      args: ['commit-tree', ...(head === null ? [] : ['-p', head]), '-F', '-', tree.id],
      env: { ...plain.env, ...sameIdentity },
      input: JSON.stringify({ version: 1, branch: workspace.branch, leftOut } satisfies WorkNote),
    })
    if (request.keepAs !== undefined)
      await gitOrThrow(git, { gitDir: workspace.privateGitDir, args: ['update-ref', request.keepAs, work] })
    if (work === last) return { kind: 'unchanged', work, leftOut }
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
    return { kind: 'saved', bundle: made.stdout, work, leftOut }
  })
}

/**
 * Restores a bundle into a new workspace: branch, index, tree and new files. git writes the files as plain bytes. Whatever the bundle contains, git
 * follows no link and writes into no git directory. Throws `GitFault` for a failure that may not happen again.
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
    // The check-out fails, for example, when the tree has a path that git never writes, such as `.git/config`.
    const why = fault instanceof GitFault ? whyUnreadable(fault.finished) : undefined
    if (why === undefined) throw fault
    return unreadable(why)
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
    const plain = await openPlainGit(git, workspace, { index })
    // With `-m` instead, git would compare each file with the index, but by other rules than it used when it wrote the file.
    const args = ['read-tree', '--reset', '-u', ...(head === null ? [] : [head]), work]
    await gitOrThrow(git, { ...plain, timeoutMs: 600_000, args })
  })
}

export interface Opened {
  readonly work: string
  readonly head: string | null
  readonly note: WorkNote
}

type BundlePlace = Pick<Workspace, 'privateGitDir' | 'mirrorDir' | 'startCommit'>

/** Imports the bundle's objects into the private git directory, and checks all of them. Throws `GitFault`. */
export async function openBundle(
  git: Git,
  workspace: BundlePlace,
  bundle: Uint8Array,
): Promise<Opened | Exclude<RestoreResult, { kind: 'restored' }>> {
  const gitDir = workspace.privateGitDir
  const scratch = await mkdtemp(join(gitDir, 'scratch-'))
  try {
    const file = join(scratch, 'bundle')
    await writeFile(file, bundle)
    const call = { gitDir, args: ['bundle', 'unbundle', file], timeoutMs: 120_000 }
    const taken = await git(call)
    if (!endedWell(taken)) {
      if (await isBaseGone(git, workspace, taken)) return { kind: 'base_gone', message: baseGone }
      const why = whyUnreadable(taken)
      if (why === undefined) throw new GitFault(call, taken)
      return unreadable(why)
    }
    const [, work] = new RegExp(`^([0-9a-f]{40}) ${workRef}$`, 'm').exec(taken.stdout.toString('utf8')) ?? []
    if (work === undefined) return unreadable('it names no work')
    // This is not reported as `unreadable`: an object that seems to be missing may only be unreadable now, and git's message is the same in both
    // cases.
    await gitOrThrow(git, { gitDir, args: ['rev-list', '--objects', '--quiet', work, '--not', '--all'] })
    const logged = await gitText(git, { gitDir, args: ['log', '-1', '--format=%P%n%B', work, '--'] })
    const [parents = '', ...text] = logged.split('\n')
    const note = WorkNote.safeParse(parseJson(text.join('\n')))
    if (!note.success || parents.includes(' ')) return unreadable('it is not what was saved here')
    return { work, head: parents === '' ? null : parents, note: note.data }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** The commits that must exist before a bundle is restored; `undefined` when it is not a bundle. */
export function prerequisitesOf(bundle: Uint8Array): readonly string[] | undefined {
  const bytes = Buffer.from(bundle)
  const end = bytes.indexOf('\n\n')
  const head = bytes.subarray(0, end + 1).toString('latin1')
  if (end < 0 || !head.startsWith(header)) return undefined
  return [...head.matchAll(/^-([0-9a-f]{40})(?: |$)/gm)].flatMap(([, commit = '']) => commit)
}

const WorkNote = z.object({
  version: z.literal(1),
  branch: z.string(),
  leftOut: z.array(z.string()).readonly(),
})
type WorkNote = z.infer<typeof WorkNote>

/** An identity without person and time, so that equal work has the same commit. */
export const sameIdentity = {
  GIT_AUTHOR_NAME: 'Flightdeck',
  GIT_AUTHOR_EMAIL: 'noreply@localhost',
  GIT_AUTHOR_DATE: '1970-01-02T00:00:00Z',
  GIT_COMMITTER_NAME: 'Flightdeck',
  GIT_COMMITTER_EMAIL: 'noreply@localhost',
  GIT_COMMITTER_DATE: '1970-01-02T00:00:00Z',
}

const workRef = 'refs/flightdeck/work'
const header = '# v2 git bundle\n'
const baseGone =
  "The commits this work is based on are no longer on the code host, so it can't be restored here."

/**
 * The messages that git prints for a file that is not a bundle, or is an incomplete bundle. Any other message means that git itself has failed, for
 * example because of a full disk; another attempt may then succeed.
 */
const ofTheBundle =
  /^(?:error|fatal): (unrecognized header: .*|invalid path .*|early EOF|pack (?:signature mismatch|version \d+ unsupported|is corrupted|has (?:bad object|junk)).*)$/m
const prerequisitesMissing =
  /^error: Repository lacks these prerequisite commits:\n((?:error: [0-9a-f]{40}(?: .*)?\n)+)$/

/**
 * Whether the commits that the bundle needs are missing. git reports them as missing, too, when it cannot read its objects. So the mirror and our own
 * git directory must each find a commit that they certainly have. Our git directory is asked for `startCommit`, which may come from an earlier
 * mirror. Throws `GitFault`.
 */
async function isBaseGone(
  git: Git,
  { privateGitDir, mirrorDir, startCommit }: BundlePlace,
  taken: Finished,
): Promise<boolean> {
  const lacked = captured(taken, prerequisitesMissing)
  if (lacked === undefined) return false
  const commits = lacked.match(/^error: [0-9a-f]{40}/gm)?.map((line) => line.slice('error: '.length)) ?? []
  const args = ['for-each-ref', '--count=1', '--format=%(objectname)', 'refs/heads']
  const head = await gitText(git, { gitDir: mirrorDir, args })
  return (
    (await isAsExpected(git, mirrorDir, { there: head === '' ? [] : [head], missing: [] })) &&
    (await isAsExpected(git, privateGitDir, {
      there: startCommit === null ? [] : [startCommit],
      missing: commits,
    }))
  )
}

/** Whether git finds the commits in `there` with their trees, does not find those in `missing`, and reports nothing else. Throws `GitFault`. */
async function isAsExpected(
  git: Git,
  gitDir: string,
  { there, missing }: { readonly there: readonly string[]; readonly missing: readonly string[] },
): Promise<boolean> {
  const names = [...there.map((commit) => `${commit}^{tree}`), ...missing]
  const expected = [...there.map(() => 'tree'), ...missing.map((commit) => `${commit} missing`)]
  const args = ['cat-file', '--batch-check=%(objecttype)']
  const input = names.map((name) => `${name}\n`).join('')
  const found = await gitOrThrow(git, { gitDir, args, input })
  return found.stderr.length === 0 && found.stdout.toString('utf8').trimEnd() === expected.join('\n')
}

function whyUnreadable(finished: Finished): string | undefined {
  return captured(finished, ofTheBundle)
}

/** The part of git's message that `words` captures, if git ended by itself. */
function captured({ endedBy, code, stderr }: Finished, words: RegExp): string | undefined {
  return endedBy === 'itself' && code !== null ? words.exec(stderr.toString('utf8'))?.[1] : undefined
}

function unreadable(why: string): Extract<RestoreResult, { kind: 'unreadable' }> {
  return { kind: 'unreadable', message: `The saved work can't be read: ${why}.` }
}
