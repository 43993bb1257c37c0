/** Creates the tasks of accepted issues, with the id that the log has for each, so that a crash creates none twice. */
import { createHash, randomUUID } from 'node:crypto'
import { defaultAgent } from '#domain/agents.ts'
import { titleOf } from '#domain/api/tasks.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { canonicalJson } from '#domain/kernel/canonicalJson.ts'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import type { IssueFailure } from '#domain/project/issueRule.ts'
import { isNoLongerCovered, type TakenIssue } from '#domain/project/issues.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { TaskEvent } from '#domain/task/events.ts'
import { issueMessage } from '#domain/task/codeHost/issue.ts'
import { task } from '#domain/task/task.ts'
import { visibleText } from '#domain/task/visibleText.ts'
import type { ProjectDocument } from '#domain/views/projects.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Admit, Commands } from '#platform/commands/execute.ts'
import { TooLarge } from '#platform/ports/faults.ts'
import { hasNoRoomYet, type Admission } from '#platform/commands/admission.ts'

export interface CreateTaskDeps {
  readonly commands: Pick<Commands, 'execute' | 'load'>
  readonly admission: Admission
}

/** The text of an issue for the agent, without secrets. */
export interface IssueText {
  readonly title: string
  readonly body: string
  readonly author: { readonly login: string } | null
  /** The comment that requested the task; `null` when the request was not a comment. */
  readonly comment: string | null
}

/** SHA-256 of title, body and comment. */
export function hashOf({ title, body, comment }: IssueText): string {
  return createHash('sha256').update(canonicalJson({ title, body, comment })).digest('hex')
}

/** Whether the task of an accepted issue was already created, for example before a crash. A deleted task counts. */
export async function taskExists(
  { commands }: { readonly commands: Pick<Commands, 'load'> },
  taskId: string,
): Promise<boolean> {
  return (await commands.load(task, taskStream(taskId))).state.kind !== 'none'
}

/** Thrown when the rule of the project was switched off, or the project deleted, after the issue was accepted. */
class Unwanted extends Error {}

async function isWanted(
  { commands }: Pick<CreateTaskDeps, 'commands'>,
  projectId: string,
  taken: TakenIssue,
): Promise<boolean> {
  const { state } = await commands.load(projectDecider, projectStream(projectId))
  return state.kind === 'project' && !isNoLongerCovered(state.issues, taken)
}

/** Creates the task and records the outcome. Returns `later` while the project's owner has too many tasks. */
export async function createTask(
  deps: CreateTaskDeps,
  of: Pick<ProjectDocument, 'id' | 'owner' | 'githubRepoId' | 'defaultBranch'>,
  taken: TakenIssue,
  text: IssueText,
): Promise<'done' | 'later'> {
  const { taskId, trigger, right, words } = taken
  // The content was erased because the project is being deleted.
  if (words === null) return 'done'
  const { issueId, number, url, author, commentId, textHash } = words
  if (hashOf(text) !== textHash) return settle(deps, of.id, taskId, 'changed')
  const admit: Admit<TaskEvent> = async (events) => {
    // Checks the rule again, since it may have been switched off after the issue was accepted.
    if (!(await isWanted(deps, of.id, taken))) throw new Unwanted()
    return events.some(({ type }) => type === 'ExecutionRequested')
      ? deps.admission.admit(of.owner)
      : () => undefined
  }
  const title = titleOf(visibleText(text.title)) || `Issue #${number}`
  const command = {
    type: 'CreateTask',
    taskId,
    ownerId: of.owner,
    projectId: of.id,
    agent: defaultAgent,
    codexModel: null,
    title,
    description: issueMessage({ ...text, number, asker: { login: author.login, right } }),
    branch: of.defaultBranch,
    messageId: randomUUID(),
    executionId: randomUUID(),
    images: [],
    fromIssue: {
      trigger,
      right,
      repositoryId: of.githubRepoId,
      issueId,
      number,
      url,
      title: text.title,
      author,
      commentId,
      textHash,
    },
  } as const
  try {
    await deps.commands.execute(task, taskStream(taskId), command, bySystem('issues'), admit)
  } catch (fault) {
    if (fault instanceof Unwanted) return settle(deps, of.id, taskId, 'unwanted')
    if (fault instanceof TooLarge) return settle(deps, of.id, taskId, 'refused', 'The issue is too long.')
    if (hasNoRoomYet(fault)) return 'later'
    if (!(fault instanceof Fault) || fault.code === 'conflict') throw fault
    if (fault.code !== 'already_exists') return settle(deps, of.id, taskId, 'refused', fault.message)
  }
  return settle(deps, of.id, taskId, null)
}

/** Records the outcome of an accepted issue: the `failure`, or `null` when its task was created. */
export async function settle(
  { commands }: Pick<CreateTaskDeps, 'commands'>,
  projectId: string,
  taskId: string,
  failure: IssueFailure | null,
  reason: string | null = null,
): Promise<'done'> {
  const command = { type: 'SettleIssue', taskId, failure, reason } as const
  await commands.execute(projectDecider, projectStream(projectId), command, bySystem('issues'))
  return 'done'
}
