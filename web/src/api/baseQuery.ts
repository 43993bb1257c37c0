/** Sends the calls of all endpoints to the server, and ends the session when the server no longer accepts the token. */
import type { BaseQueryApi, BaseQueryFn } from '@reduxjs/toolkit/query'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import { takePrefetched } from './prefetched.ts'
import type { ApiFault } from './fault.ts'
import { memberOf, textOf } from './memberOf.ts'
import { request, type ApiAnswer, type ApiCall } from './request.ts'
import { sessionEnded, readsAwait, readsGaveUp, type SessionState } from './session.ts'
import { dropToken, readToken } from './tokenStore.ts'

/** The message that section 5 of the contract prescribes for a call without a token. */
const tokenMissing = 'Authentication token not found'

export const baseQuery: BaseQueryFn<ApiCall, unknown, ApiFault> = async (
  call,
  { signal, getState, dispatch },
) => {
  const send = (asked: ApiCall) =>
    signedIn(call.path, dispatch, (token) =>
      request(asked, {
        fetch: (address, init) =>
          (call.method === 'GET' ? takePrefetched(address, token) : undefined) ?? fetch(address, init),
        token,
        signal,
      }),
    )
  const minPosition = awaitedBy(call, getState())
  if (minPosition === undefined) return send(call)
  const answer = await send({ ...call, query: { ...call.query, minPosition } })
  if (!('error' in answer) || answer.error.status !== 504) return answer
  // The server is far behind, or its log was replaced by an older copy that does not reach the position.
  dispatch(readsGaveUp(minPosition))
  return send(call)
}

/** Makes the call with the current token. A refusal may end the session. If the server cannot show a write yet, later reads wait for the write. */
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

/** The position that a read must wait for; `undefined` when there is none, or when the read already names that position or a later one. */
function awaitedBy({ method, query }: ApiCall, state: unknown): Position | undefined {
  if (method !== 'GET' || !hasSession(state) || state.session.awaiting === null) return undefined
  const { awaiting } = state.session
  const own = query?.['minPosition']
  return own !== undefined && comparePositions(awaiting, String(own)) <= 0 ? undefined : awaiting
}

function hasSession(state: unknown): state is { session: SessionState } {
  return typeof state === 'object' && state !== null && 'session' in state
}

function noteWrite(answer: unknown, dispatch: BaseQueryApi['dispatch']): void {
  const position = textOf(answer, 'position')
  if (memberOf(answer, 'stale') === true && position !== undefined) dispatch(readsAwait(position))
}
