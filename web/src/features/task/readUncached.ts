/**
 * Reads from the server without the store, which is not made for thousands of items. A 401 is left to the calls that
 * go through the store at the same time.
 */
import { logReason } from '../../api/logFailure.ts'
import { newId } from '../../api/newId.ts'
import { request, type ApiCall } from '../../api/request.ts'
import { readToken } from '../../api/tokenStore.ts'

/** Returns the body of the answer, which the caller has to check, or the reason why the call failed or was refused. */
export async function readUncached(
  call: ApiCall,
  signal: AbortSignal,
): Promise<{ readonly data: unknown } | { readonly reason: string }> {
  const answer = await request(call, {
    fetch: (...args) => fetch(...args),
    token: readToken(),
    signal,
    newId,
  })
  if (!('error' in answer)) return answer
  logReason(answer.error)
  return { reason: answer.error.message }
}

/** Whether the value is an object. The members are not checked. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
