/** Reads that are sent before there is anything that could ask for them, so that their answers come while the libraries start. */
import { callTimeoutMs } from './callTimeout.ts'

/** An answer is for who asks at once: later it would be old. In milliseconds. */
const freshMs = 5_000

/** How many of the newest tasks are asked for. */
export const prefetchedTasks = 50

/** What of a response is read. */
export type Answer = Pick<Response, 'status' | 'text'> & { readonly headers?: Headers }

interface Asked {
  readonly answer: Promise<Answer>
  readonly at: number
}

const asked = new Map<string, Asked>()
const keyOf = (address: string, token: string) => `${token} ${address}`

/** Sends a read with this token. A failure is told to who takes the answer. */
export function prefetch(address: string, token: string): Promise<Answer> {
  const answer = whole(
    fetch(address, {
      headers: { accept: 'application/json', authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(callTimeoutMs),
    }),
  )
  answer.catch(() => undefined)
  asked.set(keyOf(address, token), { answer, at: performance.now() })
  return answer
}

/** Read to its end as it comes, and not when somebody has the time: then it is there at once. */
async function whole(coming: Promise<Response>): Promise<Answer> {
  const response = await coming
  const text = await response.text()
  return { status: response.status, headers: response.headers, text: async () => text }
}

/** The answer to a read that was just sent with this token. It can be taken once. */
export function takePrefetched(address: string, token: string): Promise<Answer> | undefined {
  const key = keyOf(address, token)
  const found = asked.get(key)
  asked.delete(key)
  return found === undefined || performance.now() - found.at > freshMs ? undefined : found.answer
}
