/** Commits a task's tree and pushes it, from the private git directory and outside the box. */
import type { RedactionThreads } from '../output/redactionThreads.ts'
import type { KnownSecret } from '../output/secretForms.ts'
import type { Finished } from '../process.ts'
import { addedSecret, type AddedSecret } from './addedSecrets.ts'
import {
  authorizationConfig,
  commitOf,
  emptyTree,
  endedWell,
  GitFault,
  gitOrThrow,
  gitText,
  isBranchName,
  lastWords,
} from './git.ts'
import type { Git, GitCall } from './git.ts'
import { isRefusedAccess } from './mirror.ts'
import { rebase } from './rebase.ts'
import { kindAt, treeDifferences, withScratchIndex } from './tree.ts'
import type { ScratchIndex } from './tree.ts'
import type { Workspace } from './workspace.ts'

export interface PublishRequest {
  /** Git on the host, for the history and the network: `hostGit`. */
  readonly git: Git
  /** Git that may read what an agent wrote: `Sandbox.gitFor(workspace)`. */
  readonly treeGit: Git
  readonly workspace: Workspace
  readonly message: string
  /** The person. They are the committer as well. */
  readonly author: { readonly name: string; readonly email: string }
  /** `claude <noreply@anthropic.com>`: becomes the `Co-Authored-By` line. */
  readonly coAuthor?: string
  /** No commit adds one of these. */
  readonly secrets: readonly KnownSecret[]
  /** For making ready to look for them; without these it is done in this thread. */
  readonly threads?: Pick<RedactionThreads, 'run'>
  /** The branch at the host; the workspace's own when not given. */
  readonly branch?: string
  readonly url: string
  readonly authorization?: string | undefined
  /** Of the push; 120 s when not given. */
  readonly pushTimeoutMs?: number
  readonly signal?: AbortSignal
  /** Changes the tree by a patch, whole or not at all, and says why not where it cannot. Without it a branch that moved is only told of. */
  readonly bringIn?: (patch: Buffer) => Promise<string | null>
}

/** Each sentence is fit to be shown to the person. What was committed stays committed: the next call pushes it. */
export type PublishResult =
  | {
      readonly kind: 'published'
      readonly headSha: string
      /** False when the host already had it all. */
      readonly pushed: boolean
      /** Folders that are repositories of their own, and were left out. */
      readonly leftOut: readonly string[]
    }
  /** No file differs from where the task started, and nothing is left to push. */
  | { readonly kind: 'nothing_to_publish' }
  /** The branch at the host has commits that the task does not know; `remoteSha` is its head. */
  | { readonly kind: 'branch_moved'; readonly remoteSha: string | null; readonly message: string }
  /** What others pushed to the branch and the task's work are at odds in these files. Nothing was changed. */
  | { readonly kind: 'conflict'; readonly files: readonly string[]; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'unreachable'; readonly message: string }
  /** A file's content cannot be committed as the repository's attributes want it, or holds a secret. */
  | { readonly kind: 'not_committable'; readonly message: string }

/**
 * Makes one commit of all that the tree holds and no ignore rule names, if that is anything new, and pushes the branch, on top of what
 * others have pushed to it. Never forces. Asking again after a fault is safe. Throws `GitFault`.
 */
export async function commitAndPush(request: PublishRequest): Promise<PublishResult> {
  const { git, workspace } = request
  const branch = request.branch ?? workspace.branch
  if (!isBranchName(branch))
    return { kind: 'refused', message: `${JSON.stringify(branch)} is not a name that a branch can have.` }

  const committed = await withScratchIndex(workspace, (index) => commitTree(request, index))
  if (committed.kind === 'not_committable') return committed
  const { headSha, leftOut } = committed
  if (headSha === null) return { kind: 'nothing_to_publish' }

  const known = await commitOf(git, workspace.privateGitDir, trackingRef(branch))
  if (known === headSha) return { kind: 'published', headSha, pushed: false, leftOut }
  if (known === null && headSha === workspace.startCommit) return { kind: 'nothing_to_publish' }
  return pushOnTop(request, branch, headSha, leftOut)
}

/** Others may push again while we rebase. */
const mostRebases = 3

async function pushOnTop(
  request: PublishRequest,
  branch: string,
  committed: string,
  leftOut: readonly string[],
): Promise<PublishResult> {
  const { git, treeGit, workspace, author, bringIn } = request
  let head = committed
  for (let rebases = 0; ; rebases += 1) {
    const pushed = await push(request, branch, head, leftOut)
    if (pushed.kind !== 'branch_moved' || pushed.remoteSha === null) return pushed
    if (!bringIn || rebases === mostRebases) return pushed
    const onto = pushed.remoteSha
    const asked = { git, treeGit, workspace, head, onto, identity: identity(author), bringIn }
    const rebased = await rebase(asked)
    if (rebased.kind === 'conflict') return conflict(branch, rebased.files)
    if (rebased.kind === 'not_brought_in') return { ...pushed, message: notBroughtIn(branch, rebased.why) }
    if (rebased.head === onto) return { kind: 'published', headSha: onto, pushed: false, leftOut }
    head = rebased.head
  }
}

const mostNamed = 10

function conflict(branch: string, files: readonly string[]): PublishResult {
  const others = files.length - mostNamed
  const named = files.slice(0, mostNamed).join(', ') + (others > 0 ? ` and ${others} more` : '')
  const message = `The branch ${branch} has commits at the code host that are at odds with this task's work in ${named}. Nothing was changed. Make these files as they are there, or take those commits back, and ask again.`
  return { kind: 'conflict', files, message }
}

function notBroughtIn(branch: string, why: string): string {
  return `The branch ${branch} has commits at the code host that could not be brought in: ${why}. Nothing was overwritten.`
}

type Committed =
  | { readonly kind: 'committed'; readonly headSha: string | null; readonly leftOut: readonly string[] }
  | { readonly kind: 'not_committable'; readonly message: string }

async function commitTree(request: PublishRequest, index: ScratchIndex): Promise<Committed> {
  const { git, treeGit, workspace } = request
  const gitDir = workspace.privateGitDir
  const on = { gitDir, workTree: workspace.dir, env: { GIT_INDEX_FILE: index.file }, timeoutMs: 300_000 }
  const head = await commitOf(git, gitDir, 'HEAD')
  const differences = await treeDifferences(treeGit, workspace, index, mostNewFiles)
  if (differences.truncated) return { kind: 'not_committable', message: tooManyFiles }
  const { tracked, untracked, nested } = differences

  const paths: Buffer[] = []
  const gone: Buffer[] = []
  for (const path of [...tracked, ...untracked]) {
    const { kind, size } = await kindAt(workspace, path)
    if (kind === 'file' && size > largestFile)
      return { kind: 'not_committable', message: tooLarge(path.toString('utf8')) }
    if (kind === 'file' || kind === 'link') paths.push(path, nul)
    // A pipe or a folder in a file's place: the file is gone.
    else gone.push(path, nul)
  }
  // Of these the commit is taken that they stand at.
  for (const path of differences.submodules) paths.push(path, nul)
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

  const leftOut = nested.map((path) => path.toString('utf8'))
  const tree = await gitText(git, { ...on, args: ['write-tree'] })
  const headTree =
    head === null ? null : await gitText(git, { gitDir, args: ['rev-parse', `${head}^{tree}`] })
  const isUnchanged = headTree === null ? paths.length === 0 : tree === headTree
  if (isUnchanged) return { kind: 'committed', headSha: head, leftOut }
  const from = headTree ?? (await emptyTree(git, gitDir))
  const added = await addedSecret(git, {
    gitDir,
    from,
    to: tree,
    secrets: request.secrets,
    ...(request.threads && { threads: request.threads }),
  })
  if (added) return { kind: 'not_committable', message: holdsSecret(added) }

  const headSha = await gitText(git, {
    gitDir,
    args: ['commit-tree', ...(head === null ? [] : ['-p', head]), '-F', '-', tree],
    env: identity(request.author),
    input: commitMessage(request),
  })
  const update = `update refs/heads/${workspace.branch} ${headSha} ${head ?? '0'.repeat(40)}\n`
  await gitOrThrow(git, { gitDir, args: ['update-ref', '--stdin'], input: update })
  await index.keep()
  return { kind: 'committed', headSha, leftOut }
}

async function push(
  request: PublishRequest,
  branch: string,
  headSha: string,
  leftOut: readonly string[],
): Promise<PublishResult> {
  const { git, workspace, url, authorization } = request
  const gitDir = workspace.privateGitDir
  const call: GitCall = {
    gitDir,
    args: ['push', '--porcelain', '--no-verify', '--no-signed', '--', url, `${headSha}:refs/heads/${branch}`],
    secretConfig: authorizationConfig(url, authorization),
    timeoutMs: request.pushTimeoutMs ?? 120_000,
    signal: request.signal,
  }
  const finished = await git(call)
  if (endedWell(finished)) {
    await gitOrThrow(git, { gitDir, args: ['update-ref', trackingRef(branch), headSha] })
    return { kind: 'published', headSha, pushed: true, leftOut }
  }
  return rejection(request, branch, finished)
}

async function rejection(
  request: PublishRequest,
  branch: string,
  finished: Finished,
): Promise<PublishResult> {
  const answer = /^!\t[^\t]*\t(\[[a-z ]+\]) ?\(?(.*?)\)?$/m.exec(finished.stdout.toString('utf8'))
  const [, verdict, reason = ''] = answer ?? []
  if (verdict === '[rejected]' && /fetch first|non-fast-forward/.test(reason)) {
    const message = `The branch ${branch} has commits at the code host that this task does not have. Nothing was overwritten.`
    return { kind: 'branch_moved', remoteSha: await fetchBranch(request, branch), message }
  }
  if (answer)
    return {
      kind: 'refused',
      message: `The code host did not take the push: ${reason || lastWords(finished)}.`,
    }
  if (finished.endedBy === 'itself' && isRefusedAccess(finished))
    return {
      kind: 'refused',
      message: `Your access does not allow pushing to this repository: ${lastWords(finished)}.`,
    }
  return { kind: 'unreachable', message: `The push did not reach the code host: ${lastWords(finished)}.` }
}

async function fetchBranch(request: PublishRequest, branch: string): Promise<string | null> {
  const { git, workspace, url, authorization } = request
  const gitDir = workspace.privateGitDir
  const fetched = await git({
    gitDir,
    args: [
      'fetch',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      '--',
      url,
      `+refs/heads/${branch}:${trackingRef(branch)}`,
    ],
    secretConfig: authorizationConfig(url, authorization),
    timeoutMs: request.pushTimeoutMs ?? 120_000,
    signal: request.signal,
  })
  return endedWell(fetched) ? commitOf(git, gitDir, trackingRef(branch)) : null
}

/** The branch as we last knew it at the host. */
function trackingRef(branch: string): string {
  return `refs/remotes/origin/${branch}`
}

function identity(author: PublishRequest['author']): Record<string, string> {
  const email = oneLine(author.email) || 'noreply@localhost'
  const name = oneLine(author.name) || email
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  }
}

function commitMessage({ message, coAuthor }: PublishRequest): string {
  const text = message.replaceAll('\0', '').trim() || 'Work of a task'
  return coAuthor === undefined ? `${text}\n` : `${text}\n\nCo-Authored-By: ${oneLine(coAuthor)}\n`
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim()
}

/** GitHub takes no larger one, and would say so only once all of it was sent. Bytes. */
const largestFile = 100 * 1024 * 1024
const tooLarge = (path: string): string =>
  `${path} is larger than 100 MB, which no code host takes. Remove it, or name it in .gitignore.`

const holdsSecret = ({ path, secret }: AddedSecret): string =>
  `${path} holds ${secret.name}, for all to see who can read the repository. Nothing was committed. Take it out, or name the file in .gitignore, and ask again.`

/** So many are dependencies or build output that nobody wants in a pull request. */
const mostNewFiles = 50_000
const tooManyFiles = `There are more than ${mostNewFiles} new files. Name those that need no commit in .gitignore.`

const nul = Buffer.of(0)
