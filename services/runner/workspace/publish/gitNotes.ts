/** Writes git notes for the commits of a task, and pushes them to the code host. Existing notes by others stay. */
import { agentTraceRef } from '#domain/provenance/agentTrace.ts'
import {
  commitOf,
  endedWell,
  fetchRefs,
  gitOrThrow,
  gitText,
  lastWords,
  pushRef,
  type Git,
} from '../git/git.ts'
import { sameIdentity } from '../saved/bundle.ts'
import type { Workspace } from '../workspace.ts'

export interface NotesRequest {
  /** git on this machine, outside of any sandbox, as made by `hostGit`. */
  readonly git: Git
  readonly workspace: Workspace
  readonly url: string
  readonly authorization?: string | undefined
  readonly signal?: AbortSignal
  /** The time limit of each call to the code host; 30 s by default. */
  readonly timeoutMs?: number
}

const usualTimeoutMs = 30_000
/** How many times a push is tried, since others may push notes in between. */
const maxPushes = 4

/** The ref with the code host's notes as last fetched. */
const hostRef = agentTraceRef.replace('refs/notes/', 'refs/notes/host/')

/**
 * Fetches and merges the code host's notes. Returns `null` or, if the fetch fails, the reason, worded to follow a colon. Other faults throw
 * `GitFault`.
 */
export async function fetchNotes(request: NotesRequest): Promise<string | null> {
  const { git, workspace, url, authorization, signal, timeoutMs = usualTimeoutMs } = request
  const gitDir = workspace.privateGitDir
  // The refs are named by a pattern, because fetching a single ref that does not exist would fail.
  const refs = [`+${agentTraceRef}*:${hostRef}*`]
  const fetched = await fetchRefs(git, { gitDir, url, authorization, timeoutMs, signal }, refs)
  if (!endedWell(fetched)) return `the code host could not be asked for its notes: ${lastWords(fetched)}`
  if ((await commitOf(git, gitDir, hostRef)) !== null)
    // If we and the host have a note for the same commit, the host's note stays, because others can already read it.
    await gitOrThrow(git, {
      gitDir,
      args: ['notes', `--ref=${agentTraceRef}`, 'merge', '--quiet', '--strategy=theirs', hostRef],
      env: noteIdentity,
    })
  return null
}

/** Notes are written by the product and name no person. */
const { GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME, GIT_COMMITTER_EMAIL } = sameIdentity
const noteIdentity = { GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME, GIT_COMMITTER_EMAIL }

/** Whether our git directory has a note for a commit. */
export async function hasNote({ git, workspace }: NotesRequest, commit: string): Promise<boolean> {
  const gitDir = workspace.privateGitDir
  return endedWell(await git({ gitDir, args: ['notes', `--ref=${agentTraceRef}`, 'list', commit] }))
}

/** Sets the note of a commit. Throws `GitFault`. */
export async function addNote(
  { git, workspace }: NotesRequest,
  { commit, text }: { readonly commit: string; readonly text: string },
): Promise<void> {
  const gitDir = workspace.privateGitDir
  const blob = await gitText(git, { gitDir, args: ['hash-object', '-w', '--stdin'], input: text })
  // Passes the id of a blob instead of the text, so that git uses the text unchanged.
  const args = ['notes', `--ref=${agentTraceRef}`, 'add', '-f', '-C', blob, commit]
  await gitOrThrow(git, { gitDir, args, env: noteIdentity })
}

/**
 * Pushes notes that the code host does not have, and never forces. Returns `null` or, if the push is refused or a fetch fails, the reason, worded to
 * follow a colon. Other faults throw `GitFault`.
 */
export async function pushNotes(request: NotesRequest): Promise<string | null> {
  for (let pushes = 1; ; pushes += 1) {
    const refused = await pushOnce(request)
    if (refused === null || !refused.isBehind || pushes === maxPushes) return refused?.message ?? null
    const notFetched = await fetchNotes(request)
    if (notFetched !== null) return notFetched
  }
}

async function pushOnce(
  request: NotesRequest,
): Promise<{ readonly message: string; readonly isBehind: boolean } | null> {
  const { git, workspace, url, authorization, signal, timeoutMs = usualTimeoutMs } = request
  const gitDir = workspace.privateGitDir
  const commit = await commitOf(git, gitDir, agentTraceRef)
  if (commit === null || commit === (await commitOf(git, gitDir, hostRef))) return null
  const host = { gitDir, url, authorization, timeoutMs, signal }
  const pushed = await pushRef(git, host, `${commit}:${agentTraceRef}`)
  if (endedWell(pushed)) {
    await gitOrThrow(git, { gitDir, args: ['update-ref', hostRef, commit] })
    return null
  }
  const answer = /^!\t[^\t]*\t(\[[a-z ]+\] ?\(?.*?\)?)$/m.exec(pushed.stdout.toString('utf8'))?.[1]
  return {
    message: `the code host did not take the notes: ${answer ?? lastWords(pushed)}`,
    isBehind: answer !== undefined && /fetch first|non-fast-forward|lock|failed to update/.test(answer),
  }
}
