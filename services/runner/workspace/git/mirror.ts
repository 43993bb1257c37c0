/**
 * Bare mirrors, one for each repository, which are kept up to date. Workspaces share the objects of mirrors read-only, so mirrors are never
 * garbage-collected.
 */
import { credentialNames, type NamedCredential } from '#domain/appPermissions.ts'
import { statSync, utimesSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { serializeByKey } from '#platform/async/queue.ts'
import type { Finished } from '#platform/childProcess.ts'
import {
  authorizationConfig,
  endedWell,
  GitFault,
  gitOrThrow,
  gitText,
  isLimited,
  isUnauthorized,
  lastWords,
} from './git.ts'
import type { Git, GitCall } from './git.ts'
import { moveToMirror, type Moved } from './moveToMirror.ts'
import { isShallowRepository, removeHalfPacks } from './repositoryLayout.ts'
import { hostRefs } from './hostRefs.ts'
import { mirrorPath, type MirroredRepository } from '../names.ts'
import { refsOf, refsWritten, type Refs } from './refs.ts'

export interface MirrorPlace {
  /** The bare git directory on the host. */
  readonly dir: string
  /** The mirror's object store, which workspaces name as their alternate. */
  readonly objects: string
}

export interface Mirror extends MirrorPlace {
  /** Makes a workspace read from this mirror alone, like `moveToMirror`. */
  moveHere(git: Git, workspace: Moved): Promise<void>
}

export interface RefreshRequest extends MirroredRepository {
  readonly url: string
  /** The value of the `Authorization` header; absent for a public repository. */
  readonly authorization?: string | undefined
  /** Whose credential `authorization` is, as messages name it; by default the person's. */
  readonly accessOf?: NamedCredential
  /** The time limit, for cloning and for fetching. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Called with lines for the person's terminal, a few for each step. */
  readonly onProgress?: (line: string) => void
  /**
   * Nothing is fetched before this resolves; it never rejects. Meanwhile, the host is only asked for names and commits of branches and tags. If
   * `signal` is aborted by then, nothing is fetched.
   */
  readonly fetchAfter?: Promise<unknown>
}

/** The result of a refresh. Each sentence can be shown to the person. */
export type RefreshResult =
  | {
      readonly kind: 'ready'
      readonly mirror: Mirror
      readonly cloned: boolean
    }
  /** The host refuses this person, or the repository does not exist: hosts do not reveal which. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The host rejected the token itself. */
  | { readonly kind: 'unauthorized'; readonly message: string }
  /** The host asks us to wait. */
  | { readonly kind: 'limited'; readonly message: string }
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'timed_out'; readonly message: string }
  | { readonly kind: 'aborted' }

export interface Mirrors {
  /** Returns the present mirror if the runner has it. The mirror then counts as used now. */
  find(request: MirroredRepository & Pick<RefreshRequest, 'url'>): Promise<Mirror | undefined>
  /**
   * Clones the repository, or fetches what is new. The host is always asked, with the access of the request. Leaves no incomplete clone. Refreshes of
   * one repository run one at a time.
   */
  refresh(request: RefreshRequest): Promise<RefreshResult>
}

/** Which repositories count as large, and how much of them is fetched. */
export interface LargeRepositories {
  /** A repository with more objects than this is large. */
  readonly objects: number
  /** How many commits of each branch are fetched at first. All newer commits are fetched as they come, so that a task and its base share a commit. */
  readonly depth: number
}

/** Beyond this number of objects, a clone takes minutes and gigabytes. */
export const largeRepositories: LargeRepositories = { objects: 500_000, depth: 100 }

/** Opens the mirrors under `root`. Only this process may write to them. */
export function openMirrors({
  root,
  git,
  large = largeRepositories,
  onFault,
}: {
  readonly root: string
  readonly git: Git
  readonly large?: LargeRepositories
  /** Called with the fault that keeps a workspace on a former mirror, or keeps tags from being fetched or deleted. */
  readonly onFault: (fault: unknown) => void
}): Mirrors {
  const serialized = serializeByKey()
  const mirrorIn = (dir: string): Mirror => ({
    dir,
    objects: join(dir, 'objects'),
    moveHere: (own, workspace) =>
      moveToMirror(own, workspace, { alone: (work) => serialized(dir, work), onFault }),
  })
  return {
    async find(request) {
      const dir = join(root, mirrorPath(request.url, request))
      if (!isThere(dir)) return undefined
      markUsed(dir)
      return mirrorIn(dir)
    },
    async refresh(request) {
      const dir = join(root, mirrorPath(request.url, request))
      const refreshed = await serialized(dir, () => refreshMirror({ git, large, onFault }, dir, request))
      return refreshed.kind === 'ready' ? { ...refreshed, mirror: mirrorIn(dir) } : refreshed
    },
  }
}

/**
 * Whether a new clone of a mirror's repository might have a shallow history, because the repository has too many objects. The mirror may have old
 * objects that the repository no longer has. Then the result may be true although a new clone would have the whole history.
 */
export async function mayBeShallow(git: Git, mirrorDir: string, large = largeRepositories): Promise<boolean> {
  if (await isShallowRepository(mirrorDir)) return true
  const counts = await gitText(git, { gitDir: mirrorDir, args: ['count-objects', '-v'] })
  const [loose = 0, packed = 0] = ['count', 'in-pack'].map((name) =>
    Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(counts)?.[1] ?? Infinity),
  )
  return loose + packed > large.objects
}

type Refreshed = Omit<Extract<RefreshResult, { kind: 'ready' }>, 'mirror'>

interface Refreshing {
  readonly git: Git
  readonly large: LargeRepositories
  readonly onFault: (fault: unknown) => void
}

async function refreshMirror(
  refreshing: Refreshing,
  dir: string,
  request: RefreshRequest,
): Promise<Refreshed | Exclude<RefreshResult, { kind: 'ready' }>> {
  if (request.signal?.aborted) return { kind: 'aborted' }
  const { git, large } = refreshing
  const full = `${request.owner}/${request.name}`
  if (isThere(dir)) {
    markUsed(dir)
    await removeLeftLocks(dir)
    const isShallow = await isShallowRepository(dir)
    const [there, here] = await Promise.all([hostRefs(request), refsHere(git, dir)])
    if (there === 'limited') return limited(full)
    if (there && isAsAtHost(there, here, { isShallow })) return { kind: 'ready', cloned: false }
    if (!(await mayFetch(request))) return { kind: 'aborted' }
    request.onProgress?.(`Fetching ${full}…`)
    if (there && isShallow) await forgetTags(refreshing, dir, { there, here })
    const fetched = await fetchInto(refreshing, isShallow ? 'following' : 'all', (tags) =>
      fetchCall(dir, request, tags),
    )
    if (!endedWell(fetched)) return refusal(fetched, request)
    return (await withoutBranches(git, dir, request)) ?? { kind: 'ready', cloned: false }
  }

  if (!(await mayFetch(request))) return { kind: 'aborted' }
  request.onProgress?.(`Cloning ${full}…`)
  const half = join(dirname(dir), `.half-made-${basename(dir)}`)
  await mkdir(dirname(dir), { recursive: true, mode: 0o700 })
  try {
    await makeBare(git, half)
    let fetched = await fetchUnlessLarge(refreshing, half, request)
    if (fetched === 'large') {
      request.onProgress?.(
        `${full} has more than ${large.objects} objects: of its history, the last ${large.depth} commits of each branch are fetched.`,
      )
      await makeBare(git, half)
      fetched = await fetchInto(refreshing, 'following', (tags) =>
        fetchCall(half, request, tags, [`--depth=${large.depth}`]),
      )
    }
    if (!endedWell(fetched)) return refusal(fetched, request)
    const unfetched = await withoutBranches(git, half, request)
    if (unfetched) return unfetched
    await rename(half, dir)
    return { kind: 'ready', cloned: true }
  } finally {
    await rm(half, { recursive: true, force: true })
  }
}

/**
 * Returns `undefined` if a mirror has branches after a successful fetch, or if the host has no refs; otherwise the fault. A repository whose branches
 * were not fetched must not count as empty, because work would begin from nothing.
 */
async function withoutBranches(
  git: Git,
  gitDir: string,
  { owner, name, url, authorization, signal }: RefreshRequest,
): Promise<Extract<RefreshResult, { kind: 'unreachable' }> | undefined> {
  if ((await refsOf(git, gitDir, ['refs/heads'])).size > 0) return undefined
  const listed = await git({
    gitDir,
    args: ['ls-remote', '--quiet', '--', url],
    secretConfig: authorizationConfig(url, authorization),
    signal,
  })
  const full = `${owner}/${name}`
  const unknown = `${full} has no branch here, and the code host does not say whether it has any: ${lastWords(listed)}.`
  if (!endedWell(listed)) return { kind: 'unreachable', message: unknown }
  const refs = listed.stdout.toString('utf8')
  if (refs.trim() === '') return undefined
  const message = /\trefs\/heads\//.test(refs)
    ? `${full} has branches at the code host, and none of them could be fetched. It is not empty, so nothing was begun in it.`
    : `${full} has no branch at the code host, but other refs. Create a branch there first.`
  return { kind: 'unreachable', message }
}

async function mayFetch({ fetchAfter, signal }: RefreshRequest): Promise<boolean> {
  await fetchAfter
  return signal?.aborted !== true
}

/** Whether a fetch would bring nothing. The caller checks whether the person may fetch. */
function isAsAtHost(there: Refs, here: Refs, { isShallow }: { readonly isShallow: boolean }): boolean {
  const heads = (refs: Refs) => [...refs.keys()].filter((name) => name.startsWith('refs/heads/'))
  // A branch that was deleted at the host must be deleted here; a tag may stay until the next fetch.
  if (heads(there).length !== heads(here).length) return false
  return [...there].every(
    // A shallow mirror lacks most tags, so a missing tag does not count.
    ([name, commit]) => here.get(name) === commit || (isShallow && isTag(name) && !here.has(name)),
  )
}

const isTag = (name: string): boolean => name.startsWith('refs/tags/')

/**
 * Deletes tags that the host has moved or deleted. A fetch with `following` tags only adds new tags, and fails if a folder now has the name of an old
 * tag. The objects of the tags stay.
 */
async function forgetTags(
  { git, onFault }: Refreshing,
  gitDir: string,
  { there, here }: { readonly there: Refs; readonly here: Refs },
): Promise<void> {
  const gone = [...here.keys()].filter((name) => isTag(name) && there.get(name) !== here.get(name))
  if (gone.length === 0) return
  const input = gone.map((name) => `delete ${name}\n`).join('')
  const call: GitCall = { gitDir, args: ['update-ref', '--stdin'], input }
  const ended = await git(call)
  if (!endedWell(ended)) onFault(new GitFault(call, ended))
}

async function refsHere(git: Git, gitDir: string): Promise<Refs> {
  return (await refsWritten(gitDir)) ?? refsOf(git, gitDir)
}

/** Sets the time of the mirror's last use, by which eviction decides. */
function markUsed(dir: string): void {
  const now = new Date()
  utimesSync(dir, now, now)
}

async function makeBare(git: Git, dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true })
  const args = [
    'init',
    '--quiet',
    '--bare',
    '--shared=0644',
    '--template=',
    '--initial-branch=main',
    '--',
    dir,
  ]
  await gitOrThrow(git, { args })
}

/** Fetches everything, unless the host reports that the repository is too large. */
async function fetchUnlessLarge(
  refreshing: Refreshing,
  gitDir: string,
  request: RefreshRequest,
): Promise<Finished | 'large'> {
  const tooLarge = new AbortController()
  const showProgress = request.onProgress && progressLines(request.onProgress)
  const signals = request.signal ? [request.signal, tooLarge.signal] : [tooLarge.signal]
  let end = ''
  const fetched = await fetchInto(refreshing, 'all', (tags) => ({
    ...fetchCall(gitDir, { ...request, signal: AbortSignal.any(signals) }, tags),
    onStderr(chunk) {
      showProgress?.(chunk)
      const printed = end + chunk.toString('latin1')
      const objects = Number(
        /(?:Counting|Receiving|Unpacking) objects: +\d+% \(\d+\/(\d+)\)/.exec(printed)?.[1] ?? 0,
      )
      if (objects > refreshing.large.objects) tooLarge.abort()
      end = printed.slice(-200)
    },
  }))
  return tooLarge.signal.aborted && !endedWell(fetched) ? 'large' : fetched
}

/** The tags that a fetch brings. `following`: only tags of the fetched commits, since an older tag would bring its whole history. */
type Tags = 'all' | 'following' | 'none'

/**
 * Fetches. If tags may have made the fetch fail, fetches again without them: a bad tag that somebody pushed must not keep everybody's tasks from
 * beginning.
 */
async function fetchInto(
  { git, onFault }: Refreshing,
  tags: Tags,
  callWith: (tags: Tags) => GitCall,
): Promise<Finished> {
  const call = callWith(tags)
  const fetched = await git(call)
  if (endedWell(fetched) || !mayBeForTags(fetched)) return fetched
  const again = await git(callWith('none'))
  if (endedWell(again)) onFault(new GitFault(call, fetched))
  return again
}

function mayBeForTags(failed: Finished): boolean {
  if (failed.endedBy === 'output_limit') return true
  const isAway = /^fatal: unable to access /m.test(failed.stderr.toString('utf8'))
  return failed.endedBy === 'itself' && !isAway && !isRefusedAccess(failed)
}

function fetchCall(
  gitDir: string,
  request: RefreshRequest,
  tags: Tags,
  options: readonly string[] = [],
): GitCall {
  const { url, authorization, timeoutMs, signal, onProgress } = request
  const showProgress = onProgress && progressLines(onProgress)
  return {
    gitDir,
    args: [
      'fetch',
      '--progress',
      '--prune',
      '--force',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      // Without this option, git skips the branches of a host whose repository is shallow, and still reports success.
      '--update-shallow',
      ...(tags === 'none' ? ['--no-tags'] : []),
      ...options,
      '--',
      url,
      '+refs/heads/*:refs/heads/*',
      // A refspec is used instead of --tags. With it, git first deletes the tags that were deleted at the host, so that a folder can take the name of
      // a tag.
      ...(tags === 'all' ? ['+refs/tags/*:refs/tags/*'] : []),
    ],
    secretConfig: authorizationConfig(url, authorization),
    timeoutMs,
    signal,
    ...(showProgress && { onStderr: showProgress }),
  }
}

/** Turns git's progress output into lines: one at the end of each step, and one a second while it lasts. */
export function progressLines(
  onLine: (line: string) => void,
  now: () => number = () => performance.now(),
): (chunk: Buffer) => void {
  let rest = ''
  let shownAt = now()
  let lastDone = ''
  return (chunk) => {
    const lines = (rest + chunk.toString('utf8')).split(/[\r\n]/)
    rest = (lines.pop() ?? '').slice(-1_000)
    for (const line of lines) {
      const step = /^(?:remote: )?((?:Counting|Compressing|Receiving|Resolving)[a-z ]*): +(\d+)%.*/.exec(line)
      if (!step?.[1]) continue
      const isDone = step[2] === '100' && step[1] !== lastDone
      if (isDone) lastDone = step[1]
      if (!isDone && now() - shownAt < 1_000) continue
      shownAt = now()
      onLine(line.trim())
    }
  }
}

const limited = (full: string) =>
  ({ kind: 'limited', message: `${full} could not be fetched: the code host asks us to wait.` }) as const

function refusal(
  finished: Finished,
  { owner, name, accessOf = 'person' }: RefreshRequest,
): Exclude<RefreshResult, { kind: 'ready' }> {
  const full = `${owner}/${name}`
  const used = credentialNames[accessOf]
  switch (finished.endedBy) {
    case 'aborted':
      return { kind: 'aborted' }
    case 'time_limit':
      return {
        kind: 'timed_out',
        message: `Fetching ${full} took too long. Try again, or raise the time limit.`,
      }
    case 'output_limit':
    case 'reader':
    case 'itself':
      if (isLimited(finished)) return limited(full)
      if (isUnauthorized(finished))
        return {
          kind: 'unauthorized',
          message: `${full} cannot be read: the code host did not accept ${used}.`,
        }
      return isRefusedAccess(finished)
        ? { kind: 'refused', message: `${full} cannot be read with ${used}: ${lastWords(finished)}.` }
        : { kind: 'unreachable', message: `${full} could not be fetched: ${lastWords(finished)}.` }
  }
}

/** Whether the host refused the person: wrong or missing access, or a repository that it hides from them. */
export function isRefusedAccess(finished: Finished): boolean {
  const stderr = finished.stderr.toString('utf8')
  return /authentication failed|could not read username|returned error: 40[134]|repository '.*' not found|access denied/i.test(
    stderr,
  )
}

/** Removes the locks and incomplete packs of a git that was killed. Refreshes of a mirror run one at a time, so none of them is in use. */
async function removeLeftLocks(dir: string): Promise<void> {
  const entries = await readdir(join(dir, 'refs'), { recursive: true })
  const locks = entries.filter((name) => name.endsWith('.lock')).map((name) => join(dir, 'refs', name))
  const top = (await readdir(dir)).filter((name) => name.endsWith('.lock')).map((name) => join(dir, name))
  for (const path of [...locks, ...top]) await rm(path, { force: true })
  await removeHalfPacks(join(dir, 'objects'))
}

// Synchronous, as it takes microseconds and an agent waits for it.
function isThere(dir: string): boolean {
  return statSync(dir, { throwIfNoEntry: false }) !== undefined
}
