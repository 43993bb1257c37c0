/** Answers with lines of a file as it was before a task changed it. */
import { projectsView } from '#domain/views/projects.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { RpcResponse, RpcRequest } from '#platform/ports/rpc.ts'
import type { WorkspaceDeps } from '../deps.ts'
import { endedWell, type Git } from '../workspace/git/git.ts'
import { privateGitOf } from '../workspace/workspace.ts'

export type LinesDeps = Pick<WorkspaceDeps, 'root' | 'git' | 'documents' | 'access' | 'codeHost'>

export async function linesOf(
  deps: LinesDeps,
  request: RpcRequest<'lines'>,
): Promise<RpcResponse<'lines'> | undefined> {
  return (await mayStillRead(deps, request.taskId))
    ? readLines(deps.git, { ...request, gitDir: privateGitOf(deps.root, request.taskId) })
    : undefined
}

/** Whether the task's owner may still read the repository; `false` when the task or project no longer exists. Throws the code host's refusal. */
async function mayStillRead({ documents, access, codeHost }: LinesDeps, taskId: string): Promise<boolean> {
  const task = await documents.get(tasksView, taskId)
  const project = task && (await documents.get(projectsView, task.projectId))
  if (!task || !project) return false
  const repository = { owner: project.githubOwner, name: project.githubRepoName }
  const { id } = await codeHost.repository(await access.tokenOf(task.owner), repository)
  // Another repository may have the name by now.
  return project.githubRepoId === '' || project.githubRepoId === id
}

export interface LinesAsked {
  /** The private git directory, which the agent cannot access. */
  readonly gitDir: string
  /** The git object name of the file's content. */
  readonly blob: string
  /** The first line, counted from 1. `to`, the last line, is included. */
  readonly from: number
  readonly to: number
}

const readTimeoutMs = 5_000
/** The size in bytes above which a file is not read. */
const largestFile = 10_000_000
/** Longer lines are cut, and longer answers end earlier. Both lengths are in UTF-16 code units. */
const longestLine = 2_000
const longestAnswer = 100_000

/** Reads content by its git object name and never by a path; `undefined` when it does not exist or is too large. */
export async function readLines(
  git: Git,
  { gitDir, blob, from, to }: LinesAsked,
): Promise<{ readonly lines: readonly string[]; readonly total: number } | undefined> {
  if (!/^[0-9a-f]{40,64}$/.test(blob)) return undefined
  const read = await git({
    gitDir,
    args: ['cat-file', 'blob', blob],
    timeoutMs: readTimeoutMs,
    maxOutputBytes: largestFile,
  })
  if (!endedWell(read)) return undefined
  const all = read.stdout.toString('utf8').split('\n')
  // A text usually ends with a line break, and no further line follows it.
  if (all.at(-1) === '') all.pop()
  let room = longestAnswer
  const lines: string[] = []
  for (const line of all.slice(from - 1, to)) {
    const text = line.length > longestLine ? `${line.slice(0, longestLine)}…` : line
    room -= text.length
    if (room < 0) break
    lines.push(text)
  }
  return { lines, total: all.length }
}
