/** The services that the query routes use. */
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
  /** The address of the product for links at the code host; `null` when its readers cannot reach it, or when it is unknown. */
  readonly publicAddress: string | null
  /** Used only to preview an undo, and to record reads in the audit log. */
  readonly commands: Commands
  readonly hostApp: Pick<HostApp, 'current'>
  readonly gitHubAnswers: GitHubAnswers
  readonly rpc: Engines['rpc']
  readonly taskRecords: TaskRecords
}

export const route = routeWith<QueryServices>()

/** The task in the path, if it is the person's own. */
export async function ownTask(
  request: Person & { readonly params: { readonly taskId: string } },
  { documents }: QueryServices,
): Promise<{ readonly task: TaskDocument }> {
  const found = await documents.get(tasksView, request.params.taskId)
  if (found?.owner !== request.user.id) throw new Fault('not_found', 'There is no such task.')
  return { task: found }
}

/**
 * The task in the path, if the person may have its audit bundle: it is their own, or was before it was deleted. Administrators may have that of any
 * deleted task. The owner of a deleted task is read from the log, since nothing else has it.
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

/** The project in the path, if it is the person's own. */
export async function ownProject(
  request: Person & { readonly params: { readonly projectId: string } },
  { documents }: QueryServices,
): Promise<{ readonly project: ProjectDocument }> {
  const project = await documents.get(projectsView, request.params.projectId)
  if (project?.owner !== request.user.id) throw new Fault('not_found', 'There is no such project.')
  return { project }
}

/** The answer of a runner; `undefined` when none answers, or when runners cannot be called for now. */
export async function ifAny<Answer>(asking: Promise<Answer | undefined>): Promise<Answer | undefined> {
  try {
    return await asking
  } catch (fault) {
    if (fault instanceof EngineUnavailable) return undefined
    throw fault
  }
}
