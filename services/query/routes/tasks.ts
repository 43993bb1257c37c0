/** The routes that read tasks, their changes and their pull requests. */
import {
  getFileLines,
  getPullRequest,
  getTask,
  getTaskDiff,
  listTasks,
  type ChangedFile,
  type GitDiff,
} from '#domain/api/tasks.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { artifactsForPullRequest } from '#platform/reads/artifacts.ts'
import { presentTask } from '#platform/reads/apiForms.ts'
import { changedFilesOf, proposalFor, recordedFilesOf } from '#platform/reads/pullRequestProposal.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import { pageAfter } from '#platform/reads/documentPages.ts'
import type { Route } from '#platform/http/route.ts'
import { route, ownTask, type QueryServices } from '../services.ts'
import { mostFileLines } from '#domain/api/tasks.ts'
import type { AnswerOf, QueryOf } from '#domain/api/call.schema.ts'

/** In the answer of `getTask`, all diffs together have at most this many UTF-16 code units. */
const diffsBesideTask = 1_000_000
/** How long to wait for the runner that has the workspace. */
const runnerTimeoutMs = 10_000

export const taskRoutes: readonly Route<QueryServices>[] = [
  route(listTasks, signedIn, fresh, async ({ user, query }, services) => {
    const where = {
      owner: user.id,
      ...(query.project === undefined ? {} : { projectId: query.project }),
      ...(query.status === undefined ? {} : { status: query.status }),
    }
    const { shown, next } = await pageAfter(query, (page) =>
      services.documents.find(tasksView, { where, ...page }),
    )
    return services.taskTexts.list(shown, next)
  }),
  route(getTask, signedIn, fresh, ownTask, async ({ task }, services) => ({
    task: await presentTask(services, task),
    data: { changedFiles: cut(await changedFiles(task, services), diffsBesideTask) },
  })),
  route(getTaskDiff, signedIn, fresh, ownTask, async ({ task, query }, services) => ({
    data: await gitDiff(task, query.baseBranch, services),
  })),
  route(getFileLines, signedIn, fresh, ownTask, ({ task, query }, services) =>
    fileLines(task, query, services),
  ),
  route(getPullRequest, signedIn, fresh, ownTask, async ({ task }, services) => {
    const { prNumber, prUrl, pullRequestWords, autoUpdate, pullRequest } = task
    const pr = prNumber === null ? null : { html_url: prUrl ?? '', number: prNumber }
    const isOver = pullRequest?.state === 'merged' || pullRequest?.state === 'closed'
    // An open pull request keeps its title and body. After a merged or closed pull request, a new proposal is made.
    const kept = pr === null || isOver ? null : pullRequestWords
    const artifacts = await artifactsForPullRequest(services.documents, task, services.publicAddress)
    return {
      pr,
      proposal: kept ?? (await proposalFor(services, task)),
      autoUpdate,
      ...(artifacts && { artifacts }),
    }
  }),
]

/** Sentences about the differences between the shown changes and a pull request; `undefined` when they are the same. */
function beyondShown(files: readonly ChangedFile[], total: number, truncated: boolean): string | undefined {
  const unlisted = total - files.length
  const leftOut = files.flatMap((file) => (file.leftOut ? [file.fileName] : []))
  const [first] = leftOut
  const named = leftOut.slice(0, maxNamed).join(', ')
  const others = leftOut.length > maxNamed ? ` and ${leftOut.length - maxNamed} more` : ''
  const sentences = [
    ...(truncated ? [notWhole] : []),
    ...(unlisted > 0
      ? [
          `${unlisted} more changed ${unlisted === 1 ? 'file is' : 'files are'} not listed. A pull request holds all of them.`,
        ]
      : []),
    ...(first === undefined
      ? []
      : [
          `No pull request takes up ${named}${others}: a separate repository, whose files become part of the changes once its .git folder is removed (${first}.git).`,
        ]),
  ]
  return sentences.length === 0 ? undefined : sentences.join(' ')
}

const maxNamed = 5
const notWhole = 'There are too many changes to show. Shortened diffs are marked.'

const notKept =
  'The changes of this task are damaged or no longer kept, so they cannot be shown. The next turn or command records them again.'

async function gitDiff(
  task: TaskDocument,
  base: string | undefined,
  services: QueryServices,
): Promise<GitDiff> {
  const { recorded } = task
  const none = {
    changedFiles: [],
    totalChanges: 0,
    currentBranch: task.workingBranch ?? task.branch,
    commitComparison: { ahead: 0, behind: 0 },
    baseBranch: task.branch,
    truncated: false,
    tree: null,
    version: task.version,
  }
  const isAwaited = task.workspace === 'none' && (task.status === 'queued' || task.status === 'running')
  if (task.workspace === 'preparing' || isAwaited) {
    return { ...none, status: 'pending_clone', exists: false, message: 'The repository is being cloned.' }
  }
  if (task.workspace === 'none') {
    const message = 'Task repository not initialized. Run a command to start.'
    return { ...none, status: 'not_initialized', exists: false, message }
  }
  if (recorded === null) return { ...none, status: 'ready', exists: true }
  const isRecorded = base === undefined || base === recorded.baseBranch
  const shown = isRecorded
    ? { ...recorded, files: task.changes?.files }
    : await changesAgainst(task, base, recorded.baseBranch, services)
  const found = await recordedFilesOf(services, task.id, shown.blob)
  const files = found ?? []
  const totalChanges = shown.files ?? files.length
  const message = found === undefined ? notKept : beyondShown(files, totalChanges, shown.truncated)
  // The runner made this blob only for this answer. If the blob cannot be removed, the sweep removes it later.
  if (!isRecorded && shown.blob) await services.blobs.remove(shown.blob).catch(() => undefined)
  return {
    status: 'ready',
    exists: true,
    changedFiles: files,
    totalChanges,
    currentBranch: shown.currentBranch,
    commitComparison: { ahead: shown.ahead, behind: shown.behind },
    baseBranch: shown.baseBranch,
    truncated: shown.truncated,
    tree: shown.tree,
    ...(message !== undefined && { message }),
    version: task.version,
  }
}

/** The changes compared with another branch than the recorded base branch. Only the runner that has the workspace can compare. */
async function changesAgainst(
  task: TaskDocument,
  baseBranch: string,
  recorded: string,
  { rpc }: QueryServices,
) {
  const answer = await rpc.call(
    'changes',
    { taskId: task.id, ownerId: task.owner, baseBranch },
    runnerTimeoutMs,
  )
  if (answer?.kind === 'changes') return { ...answer, baseBranch, tree: null }
  const why = answer === undefined ? '' : `The repository has no branch ${baseBranch}. `
  throw new Fault('base_not_recorded', `${why}The changes were recorded against ${recorded}.`, 'baseBranch')
}

function changedFiles(task: TaskDocument, services: QueryServices): Promise<ChangedFile[]> {
  return changedFilesOf(services, task.id, task.recorded?.blob ?? null)
}

/** Returns all files, but leaves diffs empty that would make all diffs together longer than `most` UTF-16 code units. */
function cut(files: readonly ChangedFile[], most: number): ChangedFile[] {
  let left = most
  return files.map((file) => {
    const diff = file.diff.length <= left ? file.diff : ''
    left -= diff.length
    return { ...file, diff }
  })
}

/**
 * Lines of a changed file as they were before the recorded changes. The file's content is read by the git id in the recorded diff, never by a path:
 * so the lines fit the diff even if the work has continued, and no link can lead to another file. Throws `not_found` for a file without changes or
 * without earlier content, and `not_initialized` when no runner has the workspace.
 */
export async function fileLines(
  task: TaskDocument,
  { path, from, to }: QueryOf<typeof getFileLines>,
  services: Pick<QueryServices, 'blobs' | 'rpc'>,
): Promise<AnswerOf<typeof getFileLines>> {
  if (to < from) throw new Fault('invalid_input', 'The last line comes before the first.', 'to')
  const files = await changedFilesOf(services, task.id, task.recorded?.blob ?? null)
  const file = files.find(({ fileName }) => fileName === path)
  if (!file) throw new Fault('not_found', 'The task did not change a file with this name.', 'path')
  const blob = blobBefore(file.diff)
  if (blob === null) throw new Fault('not_found', 'There is no earlier version of this file.', 'path')
  const last = Math.min(to, from + mostFileLines - 1)
  const answer = await services.rpc.call(
    'lines',
    { taskId: task.id, ownerId: task.owner, blob, from, to: last },
    runnerTimeoutMs,
  )
  if (!answer)
    throw new Fault(
      'not_initialized',
      "The lines can't be read right now: no runner has this task's repository available.",
    )
  return { from, lines: [...answer.lines], total: answer.total }
}

/** Git's id of a file's earlier content; `null` for a new file, a binary file, and a diff without hunks or without the id. */
export function blobBefore(diff: string): string | null {
  // Only the part before the first hunk was written by git itself. File names in this part are quoted, so they cannot contain a line break.
  const firstHunk = diff.indexOf('\n@@ ')
  if (firstHunk === -1) return null
  const name = /^index ([0-9a-f]{40,64})\.\./m.exec(diff.slice(0, firstHunk))?.[1]
  return name === undefined || /^0+$/.test(name) ? null : name
}
