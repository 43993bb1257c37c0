/** The services that the query routes use, and what these routes share: the checks of the owner, and calls to runners. */
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import type { Engines } from '#platform/compose.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { GitHubAnswers } from '#platform/credentials/hostAnswerCache.ts'
import type { HostApp } from '#platform/credentials/hostApp.ts'
import type { Person } from '#platform/http/guards.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { routeWith } from '#platform/http/route.ts'
import type { AuditSources } from './taskAudit.ts'
import type { TaskRecords } from './taskRecord.ts'
import type { TaskTexts } from './taskListJson.ts'
import type { TerminalTexts } from './terminalAnswers.ts'

export interface QueryServices
  extends
    AuditSources,
    Pick<
      Engines,
      | 'documents'
      | 'log'
      | 'projected'
      | 'blobs'
      | 'imageAddresses'
      | 'access'
      | 'mcpSignIns'
      | 'accessControl'
      | 'codeHost'
      | 'codeHostApps'
      | 'localCodeHost'
      | 'clock'
    > {
  /** The address of this server for links in texts at the code host; `null` when it is unknown, or when readers there could not open it. */
  readonly publicAddress: string | null
  /** Used to load states, for example for the preview of an undo, and to record reads in the audit log. */
  readonly commands: Commands
  readonly hostApp: Pick<HostApp, 'current'>
  readonly gitHubAnswers: GitHubAnswers
  readonly rpc: Engines['rpc']
  readonly taskRecords: TaskRecords
  readonly taskTexts: TaskTexts
  readonly terminalTexts: TerminalTexts
}

export const route = routeWith<QueryServices>()

/** Returns the task in the path. Throws `not_found` unless it belongs to the person. */
export async function ownTask(
  request: Person & { readonly params: { readonly taskId: string } },
  { documents }: QueryServices,
): Promise<{ readonly task: TaskDocument }> {
  const found = await documents.get(tasksView, request.params.taskId)
  if (found?.owner !== request.user.id) throw new Fault('not_found', 'There is no such task.')
  return { task: found }
}

/**
 * Returns the task in the path. Throws `not_found` unless the person may get its audit bundle: the owner may, also after the deletion of the task,
 * and administrators may if the task was deleted. The owner of a deleted task is read from the log, because it has no document.
 */
export async function auditedTask(
  request: Person & { readonly params: { readonly taskId: string } },
  { documents, commands, accessControl }: QueryServices,
): Promise<{ readonly task: { readonly id: string; readonly isDeleted: boolean } }> {
  const { taskId: id } = request.params
  const shown = await documents.get(tasksView, id)
  if (shown?.owner === request.user.id) return { task: { id, isDeleted: false } }
  if (shown === undefined) {
    const { state } = await commands.load(task, taskStream(id))
    if (state.kind === 'deleted') {
      if (state.ownerId === request.user.id || (await accessControl.isAdmin(request.user)))
        return { task: { id, isDeleted: true } }
    }
  }
  throw new Fault('not_found', 'There is no such task.')
}

/** Returns the project in the path. Throws `not_found` unless it belongs to the person. */
export async function ownProject(
  request: Person & { readonly params: { readonly projectId: string } },
  { documents }: QueryServices,
): Promise<{ readonly project: ProjectDocument }> {
  const project = await documents.get(projectsView, request.params.projectId)
  if (project?.owner !== request.user.id) throw new Fault('not_found', 'There is no such project.')
  return { project }
}

/** The answer of a runner; `undefined` when no runner answers or runners cannot be called at the moment. */
export async function ifAny<Answer>(asking: Promise<Answer | undefined>): Promise<Answer | undefined> {
  try {
    return await asking
  } catch (fault) {
    if (fault instanceof EngineUnavailable) return undefined
    throw fault
  }
}
