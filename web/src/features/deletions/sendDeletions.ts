/** Tells the server of what waits to be deleted, by calls that go on when the page is gone. */
import type { Dispatch } from '@reduxjs/toolkit'
import { newId } from '../../api/newId.ts'
import { request } from '../../api/request.ts'
import { readToken } from '../../api/tokenStore.ts'
import { deletionAsked, selectDeletions, type WithDeletions } from './deletions.ts'
import { texts } from './texts.ts'

const folders = { task: 'tasks', project: 'projects' } as const

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
    void request(
      {
        method: 'DELETE',
        path: `/${folders[kind]}/${encodeURIComponent(id)}`,
        fallback: texts.failed[kind],
        keepalive: true,
      },
      { fetch: (...args) => fetch(...args), token, signal: new AbortController().signal, newId },
    )
  }
}
