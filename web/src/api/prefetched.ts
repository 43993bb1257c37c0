/** Sends reads before any component can request them, so that their answers arrive while the libraries start. */

/** The time-out of calls other than downloads (contract, section 9), in milliseconds. Defined here because this file is loaded first. */
export const callTimeoutMs = 30_000

/** For how long a prefetched answer may be used before it counts as outdated, in milliseconds. */
const freshMs = 5_000

/** How many of the newest tasks are prefetched. */
export const prefetchedTasks = 50

/** The members of a `Response` that a prefetched answer needs. */
export type Answer = Pick<Response, 'status' | 'text'> & { readonly headers?: Headers }

/** The reads that were sent, each with the time at which it was sent, under the key that `keyOf` makes. */
const sent = new Map<string, { readonly answer: Promise<Answer>; readonly at: number }>()
const keyOf = (address: string, token: string) => `${token} ${address}`

/** Sends a read with this token, and keeps its answer or its failure for `takePrefetched`. */
export function prefetch(address: string, token: string): Promise<Answer> {
  const answer = whole(
    fetch(address, {
      headers: { accept: 'application/json', authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(callTimeoutMs),
    }),
  )
  answer.catch(() => undefined)
  sent.set(keyOf(address, token), { answer, at: performance.now() })
  return answer
}

/** Reads the body as it arrives, so that it is complete when a component needs it. */
async function whole(coming: Promise<Response>): Promise<Answer> {
  const response = await coming
  const text = await response.text()
  return { status: response.status, headers: response.headers, text: async () => text }
}

/** The answer to a read that was sent with this token in the last seconds; `undefined` if there is none. It can be taken only once. */
export function takePrefetched(address: string, token: string): Promise<Answer> | undefined {
  const key = keyOf(address, token)
  const found = sent.get(key)
  sent.delete(key)
  return found === undefined || performance.now() - found.at > freshMs ? undefined : found.answer
}
