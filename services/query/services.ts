/** What the query service's routes work with. */
import { Fault } from '#domain/kernel/errors.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import type { Projected } from '#platform/reads/projected.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { ImageAddresses } from '#platform/images/addresses.ts'
import type { GitHubAnswers } from '#platform/credentials/hostAnswers.ts'
import type { HostApp } from '#platform/credentials/hostApp.ts'
import type { Person } from '#platform/http/guards.ts'
import { routeWith } from '#platform/http/route.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import type { CodeHostApps } from '#platform/ports/codeHostApp.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import type { AuditSources } from './taskAudit.ts'

export interface QueryServices extends AuditSources {
  /** Reads decide nothing but what an undo would do, and record what was read for the audit log. */
  readonly commands: Commands
  readonly documents: Documents
  readonly log: EventLog
  readonly projected: Projected
  readonly blobs: SealedBlobs
  readonly imageAddresses: ImageAddresses
  readonly access: HostAccess
  readonly accessControl: AccessControl
  readonly codeHost: CodeHost
  readonly codeHostApps: CodeHostApps
  readonly hostApp: Pick<HostApp, 'current'>
  readonly gitHubAnswers: GitHubAnswers
  readonly rpc: Rpc
  readonly clock: Clock
}

export const route = routeWith<QueryServices>()

/** The task of the address, when it is the person's own. */
export async function ownTask(
  asked: Person & { readonly params: { readonly taskId: string } },
  { documents }: QueryServices,
): Promise<{ readonly task: TaskDocument }> {
  const task = await documents.get(tasksView, asked.params.taskId)
  if (task?.owner !== asked.user.id) throw new Fault('not_found', 'There is no such task.')
  return { task }
}

/** The project of the address, when it is the person's own. */
export async function ownProject(
  asked: Person & { readonly params: { readonly projectId: string } },
  { documents }: QueryServices,
): Promise<{ readonly project: ProjectDocument }> {
  const project = await documents.get(projectsView, asked.params.projectId)
  if (project?.owner !== asked.user.id) throw new Fault('not_found', 'There is no such project.')
  return { project }
}
