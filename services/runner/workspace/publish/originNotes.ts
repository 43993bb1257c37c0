/** Git notes beside the commits of a task, and their way to the code host. Notes of others that are there stay. */
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
  /** Git on the host: `hostGit`. */
  readonly git: Git
  readonly workspace: Workspace
  readonly url: string
  readonly authorization?: string | undefined
  readonly signal?: AbortSignal
  /** The time limit of each call to the host; 30 s when not given. */
  readonly timeoutMs?: number
}

const usualTimeoutMs = 30_000
/** How many pushes are tried, since others may push notes in between. */
const maxPushes = 4

/** The host's notes as we last knew them. */
const hostRef = agentTraceRef.replace('refs/notes/', 'refs/notes/host/')

/** Takes over the notes that the host has. A sentence where it cannot be asked. Throws `GitFault`. */
export async function fetchNotes(request: NotesRequest): Promise<string | null> {
  const { git, workspace, url, authorization, signal, timeoutMs = usualTimeoutMs } = request
  const gitDir = workspace.privateGitDir
  // A pattern, since naming a ref that is not there would fail.
  const refs = [`+${agentTraceRef}*:${hostRef}*`]
  const fetched = await fetchRefs(git, { gitDir, url, authorization, timeoutMs, signal }, refs)
  if (!endedWell(fetched)) return `the code host could not be asked for its notes: ${lastWords(fetched)}`
  if ((await commitOf(git, gitDir, hostRef)) !== null)
    // Where both have a note for a commit, what others can already read stays.
    await gitOrThrow(git, {
      gitDir,
      args: ['notes', `--ref=${agentTraceRef}`, 'merge', '--quiet', '--strategy=theirs', hostRef],
      env: noteIdentity,
    })
  return null
}

/** Notes are by the product and name no person. */
const { GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME, GIT_COMMITTER_EMAIL } = sameIdentity
const noteIdentity = { GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME, GIT_COMMITTER_EMAIL }

/** Whether a commit has a note that we know of. */
export async function hasNote({ git, workspace }: NotesRequest, commit: string): Promise<boolean> {
  const gitDir = workspace.privateGitDir
  return endedWell(await git({ gitDir, args: ['notes', `--ref=${agentTraceRef}`, 'list', commit] }))
}

/** Throws `GitFault`. */
export async function addNote(
  { git, workspace }: NotesRequest,
  { commit, text }: { readonly commit: string; readonly text: string },
): Promise<void> {
  const gitDir = workspace.privateGitDir
  const blob = await gitText(git, { gitDir, args: ['hash-object', '-w', '--stdin'], input: text })
  // By the blob's id, so that git takes the text as it is.
  const args = ['notes', `--ref=${agentTraceRef}`, 'add', '-f', '-C', blob, commit]
  await gitOrThrow(git, { gitDir, args, env: noteIdentity })
}

/** Pushes the notes that the host does not have; a sentence where it does not take them. Never forces. Throws `GitFault`. */
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
