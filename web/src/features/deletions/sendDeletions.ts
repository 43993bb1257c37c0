/** Tells the server of what waits to be deleted, by calls that go on when the page is gone. */
import { projectRoutes } from '#domain/api/projects.ts'
import type { deleteProject } from '#domain/api/projects.schema.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import type { deleteTask } from '#domain/api/tasks.schema.ts'
import type { Dispatch } from '@reduxjs/toolkit'
import { requestOf } from '../../api/endpoint.ts'
import { newId } from '../../api/newId.ts'
import { request, type ApiCall } from '../../api/request.ts'
import { readToken } from '../../api/tokenStore.ts'
import { deletionAsked, selectDeletions, type Deletion, type WithDeletions } from './deletions.ts'
import { texts } from './texts.ts'

interface HoldsDeletions {
  getState(): WithDeletions
  readonly dispatch: Dispatch
}

/** Sends all that were not sent yet. Nobody waits for the answers: who asks leaves the page, or is logged out. */
export function sendDeletions({ getState, dispatch }: HoldsDeletions): void {
  const token = readToken()
  if (token === null) return
  for (const { kind, id, asked } of selectDeletions(getState())) {
    if (asked) continue
    dispatch(deletionAsked(id))
    void request(deletionOf(kind, id), {
      fetch: (...args) => fetch(...args),
      token,
      signal: new AbortController().signal,
      newId,
    })
  }
}

/** Goes on when the page goes away. */
function deletionOf(kind: Deletion['kind'], id: string): ApiCall {
  const options = { fallback: texts.failed[kind], keepalive: true }
  switch (kind) {
    case 'task':
      return requestOf<typeof deleteTask>(taskRoutes.deleteTask, { params: { taskId: id }, ...options })
    case 'project':
      return requestOf<typeof deleteProject>(projectRoutes.deleteProject, {
        params: { projectId: id },
        ...options,
      })
  }
}
