/** How every endpoint of the client reaches the server, and what an answer of 401 means. */
import type { BaseQueryApi, BaseQueryFn } from '@reduxjs/toolkit/query'
import { takePrefetched } from './prefetched.ts'
import type { ApiFault } from './fault.ts'
import { newId } from './newId.ts'
import { request, type ApiAnswer, type ApiCall } from './request.ts'
import { sessionEnded, wroteAhead, type SessionState } from './session.ts'
import { dropToken, readToken } from './tokenStore.ts'

/** Section 5. */
const tokenMissing = 'Authentication token not found'

export const baseQuery: BaseQueryFn<ApiCall, unknown, ApiFault> = async (
  call,
  { signal, getState, dispatch },
) => {
  return signedIn(call.path, dispatch, (token) =>
    request(ahead(call, getState), {
      fetch: (address, init) =>
        (call.method === 'GET' ? takePrefetched(address, token) : undefined) ?? fetch(address, init),
      token,
      signal,
      newId,
    }),
  )
}

/** Asks with the token of now, and minds what the answer means beyond itself: the end of the session, or a write to wait for. */
export async function signedIn(
  path: string,
  dispatch: BaseQueryApi['dispatch'],
  ask: (token: string) => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  const token = readToken()
  // Nothing under /api is open to somebody who is not signed in.
  if (token === null) {
    return { error: { status: 401, code: 'sign_in_required', message: tokenMissing, field: null } }
  }
  const answer = await ask(token)
  if ('error' in answer) {
    const end = endOf(path, answer.error)
    // A late answer to an older token says nothing of the token of now.
    if (end && readToken() === token) {
      dropToken()
      dispatch(end)
    }
    return answer
  }
  noteWrite(answer.data, dispatch)
  return answer
}

function endOf(path: string, { code, message, status }: ApiFault) {
  if (code === 'not_allowed') return sessionEnded('refused', message)
  return status === 401 && endsSession(path) && sessionEnded('unauthorised')
}

/** A 401 ends the session, except on paths of the code host and of branches: there it is the host that refuses. */
export function endsSession(path: string): boolean {
  return !path.includes('github') && !path.includes('/branches')
}

/** A read after a write that was not projected in time waits for it. */
function ahead(call: ApiCall, getState: () => unknown): ApiCall {
  const state = getState()
  if (call.method !== 'GET') return call
  if (!hasSession(state) || state.session.awaiting === null) return call
  return { ...call, query: { ...call.query, minPosition: state.session.awaiting } }
}

function hasSession(state: unknown): state is { session: SessionState } {
  return typeof state === 'object' && state !== null && 'session' in state
}

function noteWrite(answer: unknown, dispatch: BaseQueryApi['dispatch']): void {
  if (typeof answer !== 'object' || answer === null || !('stale' in answer) || answer.stale !== true) return
  if ('position' in answer && typeof answer.position === 'string') dispatch(wroteAhead(answer.position))
}
