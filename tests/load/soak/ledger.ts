/** Writes with their outcomes. Each write has a text that occurs nowhere else, by which its event is found in the log. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Person } from '../../product/person.ts'

/** `open`: no answer has said yet whether the write was accepted. */
export type Outcome = 'accepted' | 'refused' | 'open'

export interface Written {
  readonly mark: string
  readonly taskId: string
  readonly what: string
  outcome: Outcome
  /** The answer of a refusal. */
  refusal: string
}

export interface Ledger {
  readonly written: readonly Written[]
  /**
   * Makes a write, and repeats it with the same `Idempotency-Key` until an answer says whether it was accepted. `bodyWith` makes the body, which must
   * contain the mark as a word of its own.
   */
  write(write: {
    readonly person: Person
    readonly taskId: string
    readonly what: string
    readonly method: 'PUT' | 'POST'
    readonly path: string
    bodyWith(mark: string): object
  }): Promise<Answer>
}

const retryMs = 500
const answeredWithinMs = 240_000

export function openLedger(): Ledger {
  const written: Written[] = []
  return {
    written,
    async write({ person, taskId, what, method, path, bodyWith }) {
      const mark = `mark-${randomUUID()}`
      const entry: Written = { mark, taskId, what, outcome: 'open', refusal: '' }
      written.push(entry)
      const body = bodyWith(mark)
      for (const end = performance.now() + answeredWithinMs; ;) {
        const answer = await answerOf(() => person.api(method, path, body, { 'idempotency-key': mark }))
        if (answer !== undefined && !isTemporary(answer.status)) {
          entry.outcome = answer.status < 300 ? 'accepted' : 'refused'
          if (entry.outcome === 'refused') entry.refusal = `${answer.status} ${answer.text.slice(0, 200)}`
          return answer
        }
        if (performance.now() > end)
          throw new Error(`${what} is not answered: ${answer?.status} ${answer?.text}`)
        await pause(retryMs)
      }
    },
  }
}

const isTemporary = (status: number) => status >= 500 || status === 429

/** The answer; `undefined` when the connection broke or no answer came. Any other error is thrown, such as an answer that breaks the contract. */
export async function answerOf(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask()
  } catch (fault) {
    if (fault instanceof TypeError || fault instanceof DOMException) return undefined
    throw fault
  }
}
