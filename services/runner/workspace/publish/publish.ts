/** Commits a task's tree and pushes it, from the private git directory and outside of the sandbox. */
import { credentialNames, tokenPage, type NamedCredential } from '#domain/appPermissions.ts'
import { faults } from '#domain/kernel/errors.ts'
import type { TextThreads } from '../../redaction/textThreads.ts'
import type { KnownSecret } from '#platform/redaction/secretForms.ts'
import type { Finished } from '#platform/childProcess.ts'
import { addedSecret, type AddedSecret } from './addedSecrets.ts'
import { currentBase, mergeBaseOf } from '../changes/changes.ts'
import {
  commitOf,
  emptyTree,
  endedWell,
  fetchRefs,
  gitOrThrow,
  gitText,
  isLimited,
  isUnauthorized,
  lastWords,
  pushRef,
  type Git,
} from '../git/git.ts'
import { isRefusedAccess } from '../git/mirror.ts'
import { commitAs, oneLine, type CommitSigner, type Person } from './commitIdentity.ts'
import { namedOf } from '../names.ts'
import { unfilteredPaths, unfilteredSentence, type UnfilteredPath } from './unfilteredPaths.ts'
import { keptInLfs } from './lfs.ts'
import { rebase } from './rebase.ts'
import { stageTree, type StagedTree } from '../changes/stagedTree.ts'
import { withScratchIndex, type ScratchIndex } from '../changes/indexDifferences.ts'
import type { WorkspaceGit } from '../workspace.ts'

export interface PublishRequest extends WorkspaceGit {
  readonly message: string
  /** The person, who is also the committer unless this server signs. */
  readonly author: Person
  readonly signer?: CommitSigner | undefined
  /** The last lines of the message, such as `Co-Authored-By: Claude <noreply@anthropic.com>`. */
  readonly trailers?: readonly string[]
  /** Secrets that no commit may add. */
  readonly secrets: readonly KnownSecret[]
  /** Names of clean filters whose paths may be published unfiltered; none by default. */
  readonly allowedFilters?: readonly string[]
  /** Threads that prepare the search for secrets; without them, this thread prepares it. */
  readonly threads?: Pick<TextThreads, 'run'>
  readonly url: string
  readonly authorization?: string | undefined
  /** Whose credential `authorization` is, as messages name it; by default the person's. */
  readonly accessOf?: NamedCredential
  /** Called when the host rejects `authorization`. Returns a new one; `undefined` when there is none. */
  readonly renewed?: () => Promise<string | undefined>
  /**
   * Called before a push that changes workflow files, which needs a separate permission. Returns the credentials for this push, or the reason why it
   * must not be tried. If this function is absent, the push is tried like any other.
   */
  readonly forWorkflows?: (
    files: readonly string[],
  ) => Promise<{ readonly authorization: string } | { readonly refused: string }>
  /** The time limit of a push, and of a fetch of the branch; 120 s by default. */
  readonly pushTimeoutMs?: number
  readonly signal?: AbortSignal
  /** Used instead of `signal` after a push has begun. */
  readonly pushSignal?: AbortSignal
  /** Called with the tree before anything is committed. If it returns false, nothing is published. */
  readonly mayPublish?: (staged: StagedTree) => Promise<boolean>
  /**
   * Applies a patch to the tree as a whole, or returns the reason if it cannot. If this function is absent and others have pushed to the branch, the
   * publication only reports that.
   */
  readonly applyPatch?: (patch: Buffer) => Promise<string | null>
}

/** The result of a publication. Each sentence can be shown to the person. Work that was committed but not pushed is pushed by the next call. */
export type PublishResult =
  | {
      readonly kind: 'published'
      readonly headSha: string
      /** False when there was nothing to push, because the host already had everything. */
      readonly pushed: boolean
      /** Nested repositories, which were not published. */
      readonly leftOut: readonly string[]
    }
  /** No file differs from where the task started, and there is nothing to push. */
  | { readonly kind: 'nothing_to_publish'; readonly leftOut: readonly string[] }
  /** The branch at the host has commits that the task does not have; `remoteSha` is its head, or `null` if it could not be fetched. */
  | { readonly kind: 'branch_moved'; readonly remoteSha: string | null; readonly message: string }
  /** Commits of others on the branch conflict with the task's work in these files. Neither the files nor the branch at the host were changed. */
  | { readonly kind: 'conflict'; readonly files: readonly string[]; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string }
  /** The commit changes workflow files, for which the credential has no permission. The commit stays. */
  | { readonly kind: 'no_workflows'; readonly message: string }
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'limited'; readonly message: string }
  /** `mayPublish` refused the tree, because the files are no longer those that the person saw. */
  | { readonly kind: 'moved'; readonly message: string }
  /** A file contains a secret, would be published unfiltered, or cannot be committed as the attributes of the repository require. */
  | { readonly kind: 'not_committable'; readonly message: string }

/**
 * Commits what has changed in the tree, without ignored files, on top of the last pushed commit, and pushes the branch. If others have pushed to the
 * branch, rebases the commit onto theirs with `applyPatch`, and pushes again. Never forces. Repeating this after a fault is safe. Throws `GitFault`.
 */
export async function commitAndPush(request: PublishRequest): Promise<PublishResult> {
  const { git, workspace } = request
  const committed = await withScratchIndex(workspace, (index) => commitTree(request, index))
  if (committed.kind !== 'committed') return committed
  const { headSha, leftOut } = committed
  if (headSha === null) return { kind: 'nothing_to_publish', leftOut }

  const known = await commitOf(git, workspace.privateGitDir, trackingRef(workspace.branch))
  if (known === headSha) return { kind: 'published', headSha, pushed: false, leftOut }
  if (known === null && headSha === workspace.startCommit) return { kind: 'nothing_to_publish', leftOut }
  const files = request.forWorkflows ? await workflowFiles(request, known, headSha) : []
  const permitted = files.length > 0 ? await request.forWorkflows?.(files) : undefined
  if (permitted && 'refused' in permitted) return { kind: 'no_workflows', message: permitted.refused }
  // The authorization is not renewed, because another token may not be permitted to change these files.
  const permittedRequest = permitted ? { ...request, ...permitted, renewed: async () => undefined } : request
  return pushOnTop(permittedRequest, headSha, leftOut)
}

/**
 * The workflow files in which `head` differs from `known`, the commit of the branch at the host. If the host has no such branch, `head` is
 * compared with the commit where the task began.
 */
async function workflowFiles(
  { git, workspace }: PublishRequest,
  known: string | null,
  head: string,
): Promise<readonly string[]> {
  const gitDir = workspace.privateGitDir
  const from = known ?? workspace.startCommit ?? (await emptyTree(git, gitDir))
  const args = ['diff', '--name-only', '--no-renames', '-z', from, head, '--', '.github/workflows/']
  return (await gitText(git, { gitDir, args })).split('\0').filter((path) => path !== '')
}

/** How often the work is rebased at most. Others may push again during each rebase. */
const maxRebases = 3

async function pushOnTop(
  request: PublishRequest,
  committed: string,
  leftOut: readonly string[],
): Promise<PublishResult> {
  const { signer, applyPatch } = request
  const { branch } = request.workspace
  let head = committed
  for (let rebases = 0; ; rebases += 1) {
    const pushed = await push(request, head, leftOut)
    if (pushed.kind !== 'branch_moved' || pushed.remoteSha === null) return pushed
    if (!applyPatch || rebases === maxRebases) return pushed
    const onto = pushed.remoteSha
    const rebased = await rebase({ ...request, committer: request.author, head, onto, signer, applyPatch })
    if (rebased.kind === 'conflict') return conflict(branch, rebased.files)
    if (rebased.kind === 'not_applied') return { ...pushed, message: notApplied(branch, rebased.why) }
    if (rebased.head === onto) return { kind: 'published', headSha: onto, pushed: false, leftOut }
    // The attributes of the others' commits may apply a filter to our files.
    const unfiltered = await unfilteredIn(request, rebased.head, onto)
    if (unfiltered.length > 0) return { kind: 'not_committable', message: unfilteredSentence(unfiltered) }
    head = rebased.head
  }
}

function conflict(branch: string, files: readonly string[]): PublishResult {
  const message = `The branch ${branch} has commits at the code host that are at odds with this task's work in ${namedOf(files, 10)}. Nothing was changed. Make these files as they are there, or take those commits back, and ask again.`
  return { kind: 'conflict', files, message }
}

function notApplied(branch: string, why: string): string {
  return `The branch ${branch} has commits on the code host that could not be merged: ${why}. Nothing was overwritten.`
}

type Committed =
  | { readonly kind: 'committed'; readonly headSha: string | null; readonly leftOut: readonly string[] }
  | Extract<PublishResult, { kind: 'not_committable' | 'moved' | 'unreachable' | 'limited' }>

async function commitTree(request: PublishRequest, index: ScratchIndex): Promise<Committed> {
  const { git, workspace } = request
  const gitDir = workspace.privateGitDir
  const staged = await stageTree(request, index)
  if (staged.kind === 'not_committable') return staged
  const { tree } = staged
  if (request.mayPublish && !(await request.mayPublish(staged))) return { kind: 'moved', message: moved }

  // From here on only the tree counts. Later changes to the folder are ignored.
  const leftOut = staged.nested.map((path) => path.toString('utf8'))
  const head = await commitOf(git, gitDir, 'HEAD')
  const parent = await lastPublished(request, head)
  if (typeof parent === 'object' && parent !== null) return parent
  const treeOf = (commit: string) => gitText(git, { gitDir, args: ['rev-parse', `${commit}^{tree}`] })
  const from = parent === null ? await emptyTree(git, gitDir) : await treeOf(parent)
  const unchanged = async (): Promise<Committed> => {
    if (head !== parent) await setBranch(request, { from: head, to: parent })
    await index.keep()
    return { kind: 'committed', headSha: parent, leftOut }
  }
  if (staged.tree === from) return unchanged()
  const added = await addedSecret(git, {
    gitDir,
    from,
    to: tree,
    secrets: request.secrets,
    ...(request.threads && { threads: request.threads }),
  })
  if (added) return { kind: 'not_committable', message: holdsSecret(added) }
  const filtered = await filteredTree(request, { staged: tree, from })
  if (typeof filtered !== 'string') return filtered
  if (filtered === from) return unchanged()
  // If this server signs, a commit that was never pushed is made again: the host may have refused its signature.
  const isReusable = request.signer === undefined && head !== null && head !== parent
  if (isReusable && (await isCommitOf(git, gitDir, head, { tree: filtered, parent }))) {
    await index.keep()
    return { kind: 'committed', headSha: head, leftOut }
  }

  const { settings, flags, env } = commitAs(request.author, request.signer)
  const parents = parent === null ? [] : ['-p', parent]
  const headSha = await gitText(git, {
    gitDir,
    args: [...settings, 'commit-tree', ...flags, ...parents, '-F', '-', filtered],
    env,
    input: commitMessage(request),
  })
  await setBranch(request, { from: head, to: headSha })
  await index.keep()
  return { kind: 'committed', headSha, leftOut }
}

/** The tree as it may be published, with contents of Git LFS uploaded and replaced by pointers; or the reason why it may not be published. */
async function filteredTree(
  request: PublishRequest,
  { staged, from }: { readonly staged: string; readonly from: string },
): Promise<string | Exclude<Committed, { kind: 'committed' }>> {
  const unfiltered = await unfilteredIn(request, staged, from)
  const forLfs = unfiltered.flatMap((one) => (one.forLfs ? [one.forLfs] : []))
  if (forLfs.length < unfiltered.length)
    return { kind: 'not_committable', message: unfilteredSentence(unfiltered) }
  if (forLfs.length === 0) return staged
  return keptInLfs({ ...request, branch: request.workspace.branch }, { tree: staged, from, contents: forLfs })
}

/** The paths of a tree, or of a commit's tree, that would be published unfiltered on top of `parent`. */
async function unfilteredIn(
  { git, treeGit, workspace, allowedFilters: allowed = [] }: PublishRequest,
  of: string,
  parent: string,
): Promise<readonly UnfilteredPath[]> {
  const gitDir = workspace.privateGitDir
  const tree = await gitText(git, { gitDir, args: ['rev-parse', '--verify', `${of}^{tree}`] })
  const base = await currentBase(git, workspace, workspace.baseBranch)
  const published = [parent, workspace.startCommit, base].filter((one) => one !== null)
  return unfilteredPaths({ git, treeGit, workspace, tree, published, allowed })
}

/**
 * Our last commit that the host has. It becomes the parent of the next commit. Later commits that were never pushed are left out of the history, so
 * that only the tree itself is published. Asks the host if a push may have arrived without our knowledge.
 */
async function lastPublished(
  request: PublishRequest,
  head: string | null,
): Promise<string | null | Extract<PublishResult, { kind: 'unreachable' }>> {
  const { git, workspace } = request
  const { startCommit, privateGitDir: gitDir, branch } = workspace
  const known = await commitOf(git, gitDir, trackingRef(branch))
  if (head === null || head === startCommit || head === known) return head
  const fetched = await fetchBranch(request)
  if (fetched.kind === 'unreachable') return fetched
  const atHost = fetched.commit ?? startCommit
  if (atHost === null) return null
  return (await mergeBaseOf(git, gitDir, atHost, head)) ?? startCommit
}

async function isCommitOf(
  git: Git,
  gitDir: string,
  commit: string,
  { tree, parent }: { readonly tree: string; readonly parent: string | null },
): Promise<boolean> {
  const args = ['log', '-1', '--format=%T %P', commit, '--']
  return (await gitText(git, { gitDir, args })).trim() === `${tree} ${parent ?? ''}`.trim()
}

async function setBranch(
  { git, workspace }: PublishRequest,
  { from, to }: { readonly from: string | null; readonly to: string | null },
): Promise<void> {
  const ref = `refs/heads/${workspace.branch}`
  const old = from ?? '0'.repeat(40)
  const input = to === null ? `delete ${ref} ${old}\n` : `update ${ref} ${to} ${old}\n`
  await gitOrThrow(git, { gitDir: workspace.privateGitDir, args: ['update-ref', '--stdin'], input })
}

async function push(
  request: PublishRequest,
  headSha: string,
  leftOut: readonly string[],
): Promise<PublishResult> {
  const { git, workspace, url, pushTimeoutMs: timeoutMs = 120_000 } = request
  const { privateGitDir: gitDir, branch } = workspace
  const finished = await withRenewal(request, (authorization) => {
    // The signal is chosen for each attempt. So if the task was deleted in the meantime, its push is not repeated.
    const signal = request.signal?.aborted ? request.signal : (request.pushSignal ?? request.signal)
    return pushRef(git, { gitDir, url, authorization, timeoutMs, signal }, `${headSha}:refs/heads/${branch}`)
  })
  const published = { kind: 'published', headSha, pushed: true, leftOut } as const
  if (endedWell(finished)) {
    await gitOrThrow(git, { gitDir, args: ['update-ref', trackingRef(branch), headSha] })
    return published
  }
  const rejected = await rejection(request, finished)
  if (finished.endedBy === 'aborted' || !['unreachable', 'refused'].includes(rejected.kind)) return rejected
  if (isRefusedAccess(finished)) return rejected
  // The push may have arrived although it seems to have failed: if the push was then repeated, by us or by curl, the host refused the repetition.
  const found = await fetchBranch(request)
  if (found.kind === 'fetched' && found.commit === headSha) return published
  const isUnknown = found.kind === 'unreachable' && rejected.kind === 'unreachable'
  return isUnknown ? { kind: 'unreachable', message: unknownPush(finished) } : rejected
}

/** Calls `ask`, and once more with a new authorization if the code host rejected the first authorization. */
async function withRenewal(
  { authorization, renewed }: PublishRequest,
  ask: (authorization: string | undefined) => Promise<Finished>,
): Promise<Finished> {
  const finished = await ask(authorization)
  const other = isUnauthorized(finished) ? await renewed?.() : undefined
  return other === undefined ? finished : ask(other)
}

const unknownPush = (finished: Finished): string =>
  `The code host does not answer, so it is not known whether the push arrived: ${lastWords(finished)}. The work is kept. Ask again later: what arrived is found then.`

async function rejection(request: PublishRequest, finished: Finished): Promise<PublishResult> {
  const { verdict, reason } = answerIn(finished) ?? { verdict: '', reason: '' }
  if (verdict === '[rejected]' && /fetch first|non-fast-forward/.test(reason)) {
    const message = `The branch ${request.workspace.branch} has commits on the code host that this task does not have. Nothing was overwritten.`
    const fetched = await fetchBranch(request)
    return { kind: 'branch_moved', remoteSha: fetched.kind === 'fetched' ? fetched.commit : null, message }
  }
  return pushRefusal(finished, request.accessOf)
}

/** The host's verdict on a branch that it rejected, in the form of `git push --porcelain`. */
function answerIn(finished: Finished): { readonly verdict: string; readonly reason: string } | undefined {
  const answer = /^!\t[^\t]*\t(\[[a-z ]+\]) ?\(?(.*?)\)?$/m.exec(finished.stdout.toString('utf8'))
  return answer ? { verdict: answer[1] ?? '', reason: answer[2] ?? '' } : undefined
}

/** Why a push with `--porcelain` failed. */
export function pushRefusal(
  finished: Finished,
  accessOf: NamedCredential = 'person',
): Extract<PublishResult, { kind: 'refused' | 'no_workflows' | 'unreachable' | 'limited' }> {
  const used = credentialNames[accessOf]
  const stderr = finished.stderr.toString('utf8')
  const answer = answerIn(finished)
  if (/without `?workflows?`? (permission|scope)/i.test(`${answer?.reason ?? ''} ${stderr}`))
    return { kind: 'no_workflows', message: noWorkflows(accessOf) }
  if (answer && /verified signature/i.test(`${answer.reason} ${stderr}`))
    return { kind: 'refused', message: unsigned }
  if (answer && /protected branch|GH006|GH013|rule violations/i.test(`${answer.reason} ${stderr}`))
    return {
      kind: 'refused',
      message: `The branch is protected on the code host, which rejected the push: ${answer.reason || lastWords(finished)}. The work is kept; its owner can change the rule, or the task can go on another branch.`,
    }
  if (answer)
    return {
      kind: 'refused',
      message: `The code host rejected the push: ${answer.reason || lastWords(finished)}.`,
    }
  if (isLimited(finished)) return { kind: 'limited', message: 'The code host asks us to wait.' }
  if (isUnauthorized(finished))
    return { kind: 'refused', message: `Nothing was pushed: the code host did not accept ${used}.` }
  if (finished.endedBy === 'itself' && isRefusedAccess(finished))
    return {
      kind: 'refused',
      message: `${used.charAt(0).toUpperCase()}${used.slice(1)} does not allow pushing to this repository: ${lastWords(finished)}.`,
    }
  return { kind: 'unreachable', message: `The push did not reach the code host: ${lastWords(finished)}.` }
}

const unsigned =
  'The code host takes only commits with verified signatures on this branch, and rejected the push. The work is kept. An administrator can let the server sign (COMMIT_SIGNING_KEY, and its public key at the account of COMMIT_SIGNER); then ask again.'

/** A person's token is issued through the App, and limited by the permissions of the App. */
const grantToApp = 'let an owner grant the App the permission for workflows (Settings, GitHub)'
const grantWorkflows: Readonly<Record<NamedCredential, string>> = {
  person: grantToApp,
  installation: grantToApp,
  own_token: `give the token the scope workflow, or Workflows (read and write) where it is a fine-grained one, ${tokenPage}`,
}
const noWorkflows = (accessOf: NamedCredential): string =>
  `The branch has changes of workflow files that the code host does not have yet, and ${credentialNames[accessOf]} does not allow pushing those. The work is kept. Bring the branch up to date with its base, or ${grantWorkflows[accessOf]}.`

/** Fetches the branch as it is at the host now. `commit` is `null` if the host does not have the branch. */
async function fetchBranch(
  request: PublishRequest,
): Promise<
  | { readonly kind: 'fetched'; readonly commit: string | null }
  | Extract<PublishResult, { kind: 'unreachable' }>
> {
  const { git, workspace, url, signal, pushTimeoutMs: timeoutMs = 120_000 } = request
  const { privateGitDir: gitDir, branch } = workspace
  const refs = [`+refs/heads/${branch}:${trackingRef(branch)}`]
  const fetched = await withRenewal(request, (authorization) =>
    fetchRefs(git, { gitDir, url, authorization, timeoutMs, signal }, refs),
  )
  if (endedWell(fetched)) return { kind: 'fetched', commit: await commitOf(git, gitDir, trackingRef(branch)) }
  return /couldn't find remote ref/.test(fetched.stderr.toString('utf8'))
    ? { kind: 'fetched', commit: null }
    : { kind: 'unreachable', message: `The code host could not be asked: ${lastWords(fetched)}.` }
}

/** The ref with the branch as last known at the host. */
function trackingRef(branch: string): string {
  return `refs/remotes/origin/${branch}`
}

function commitMessage({ message, trailers = [] }: PublishRequest): string {
  const text = message.replaceAll('\0', '').trim() || 'Work of a task'
  return trailers.length === 0 ? `${text}\n` : `${text}\n\n${trailers.map(oneLine).join('\n')}\n`
}

const moved = faults.changes_moved.sentence

const holdsSecret = ({ path, secret }: AddedSecret): string =>
  path === null
    ? `The name of a file or folder holds ${secret.name}, for all to see who can read the repository. Nothing was committed. Rename it, and ask again.`
    : `${path} holds ${secret.name}, for all to see who can read the repository. Nothing was committed. Take it out, or name the file in .gitignore, and ask again.`
