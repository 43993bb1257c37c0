/** Sends pending deletions to the server, by calls that continue when the page is closed. */
import { projectRoutes } from '#domain/api/projects.ts'
import type { deleteProject } from '#domain/api/projects.schema.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import type { deleteTask } from '#domain/api/tasks.schema.ts'
import type { Store } from '@reduxjs/toolkit'
import { requestOf } from '../../api/endpoint.ts'
import { request, type ApiCall } from '../../api/request.ts'
import { readToken } from '../../api/tokenStore.ts'
import { deletionSent, selectDeletions, type Deletion, type WithDeletions } from './deletions.ts'
import { texts } from './texts.ts'

/** Sends all deletions that were not sent yet. The answers are ignored, because the page is being closed or the person logged out. */
export function sendDeletions({
  getState,
  dispatch,
}: Pick<Store<WithDeletions>, 'getState' | 'dispatch'>): void {
  const token = readToken()
  if (token === null) return
  for (const { kind, id, isSent } of selectDeletions(getState())) {
    if (isSent) continue
    dispatch(deletionSent(id))
    void request(deletionOf(kind, id), { token })
  }
}

function deletionOf(kind: Deletion['kind'], id: string): ApiCall {
  const options = { fallback: texts.failed[kind], keepalive: true }
  if (kind === 'task')
    return requestOf<typeof deleteTask>(taskRoutes.deleteTask, { params: { taskId: id }, ...options })
  const params = { projectId: id }
  return requestOf<typeof deleteProject>(projectRoutes.deleteProject, { params, ...options })
}
