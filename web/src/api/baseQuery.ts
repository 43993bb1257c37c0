/** Sends the calls of all endpoints to the server, and ends the session when the server no longer accepts the token. */
import type { BaseQueryApi, BaseQueryFn } from '@reduxjs/toolkit/query'
import { takePrefetched } from './prefetched.ts'
import type { ApiFault } from './fault.ts'
import { memberOf, textOf } from './memberOf.ts'
import { request, type ApiAnswer, type ApiCall } from './request.ts'
import { sessionEnded, readsAwait, type SessionState } from './session.ts'
import { dropToken, readToken } from './tokenStore.ts'

/** The message that section 5 of the contract prescribes for a call without a token. */
const tokenMissing = 'Authentication token not found'

export const baseQuery: BaseQueryFn<ApiCall, unknown, ApiFault> = async (
  call,
  { signal, getState, dispatch },
) => {
  return signedIn(call.path, dispatch, (token) =>
    request(readUpToDate(call, getState), {
      fetch: (address, init) =>
        (call.method === 'GET' ? takePrefetched(address, token) : undefined) ?? fetch(address, init),
      token,
      signal,
    }),
  )
}

/** Makes the call with the current token. A refusal may end the session; after a write, later reads wait until the server can show the write. */
export async function signedIn(
  path: string,
  dispatch: BaseQueryApi['dispatch'],
  call: (token: string) => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  const token = readToken()
  // The server would refuse a call without a token, so the refusal is returned without asking the server.
  if (token === null) {
    return { error: { status: 401, code: 'sign_in_required', message: tokenMissing, field: null } }
  }
  const answer = await call(token)
  if ('error' in answer) {
    const end = endOf(path, answer.error)
    // A late answer to an older token says nothing about the current token.
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

/** Whether a 401 ends the session. It does not for calls about GitHub and branches, which pass on a 401 of the code host. */
function endsSession(path: string): boolean {
  return !path.includes('github') && !path.includes('/branches')
}

/** Makes a read wait for the last known event, if the server's answers might not show that event yet. */
function readUpToDate(call: ApiCall, getState: () => unknown): ApiCall {
  const state = getState()
  if (call.method !== 'GET') return call
  if (!hasSession(state) || state.session.awaiting === null) return call
  return { ...call, query: { ...call.query, minPosition: state.session.awaiting } }
}

function hasSession(state: unknown): state is { session: SessionState } {
  return typeof state === 'object' && state !== null && 'session' in state
}

function noteWrite(answer: unknown, dispatch: BaseQueryApi['dispatch']): void {
  const position = textOf(answer, 'position')
  if (memberOf(answer, 'stale') === true && position !== undefined) dispatch(readsAwait(position))
}
