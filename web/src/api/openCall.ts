/** Calls that need no session, for `queryFn`. */
import type { ApiFault } from './fault.ts'
import { request, type ApiCall } from './request.ts'

/** Makes the call. The answer has the type that the contract of the call promises. */
export async function openCall<Data>(
  call: ApiCall,
  options: { readonly token: string | null; readonly signal: AbortSignal },
): Promise<{ data: Data } | { error: ApiFault }> {
  const answer = await request(call, options)
  return 'error' in answer ? answer : { data: answer.data as Data }
}
