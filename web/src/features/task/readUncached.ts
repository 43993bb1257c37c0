/** Reads from the server without the store, which is not made for thousands of items. A 401 is handled by the calls made at the same time. */
import { logReason } from '../../api/logFailure.ts'
import { newId } from '../../api/newId.ts'
import { request, type ApiCall } from '../../api/request.ts'
import { readToken } from '../../api/tokenStore.ts'

/** The answer as it came, to be checked by the caller; or why there is none. */
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

/** Whether it is an object. Its members are still unchecked. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
