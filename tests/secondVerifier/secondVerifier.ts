/** The second verifier, which is written in Python, as a process that makes one check after the other. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** The reason why the comparison cannot run here; `undefined` when it can. */
export function whyNoPython(): string | undefined {
  try {
    execFileSync('python3', ['-c', 'import sys; assert sys.version_info >= (3, 11)'], { stdio: 'pipe' })
    return undefined
  } catch {
    return 'There is no python3 of version 3.11 or later.'
  }
}

export interface CheckRequest {
  readonly kind: 'log' | 'bundle'
  readonly file: string
  readonly keys: readonly string[]
  readonly seals: readonly string[]
}

const Answer = z.object({
  verdict: z.enum(['whole', 'not_whole', 'unknown_key', 'unreadable']),
  words: z.string(),
  faults: z.array(
    z.object({ stream: z.string().nullable(), revision: z.number().nullable(), reason: z.string() }),
  ),
  remarks: z.array(z.string()),
})
export type Answer = z.infer<typeof Answer>

export interface SecondVerifier {
  /** Makes one check; the next may be requested after its answer. Throws when the process has ended. */
  check(request: CheckRequest): Promise<Answer>
  close(): Promise<void>
}

/** The categories of content by type of event, as the second verifier knows them. */
export function secondCategories(): ReadonlyMap<string, readonly string[]> {
  const script = 'import json, bundle; print(json.dumps(bundle.CATEGORIES_OF))'
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const printed = execFileSync('python3', ['-B', '-c', script], { cwd, encoding: 'utf8' })
  const Categories = z.record(z.string(), z.array(z.string()))
  return new Map(Object.entries(Categories.parse(JSON.parse(printed))))
}

export function startSecondVerifier(): SecondVerifier {
  const program = fileURLToPath(new URL('verify.py', import.meta.url))
  const child = spawn('python3', ['-B', program, '--batch'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async check(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`)
      const { done, value } = await lines.next()
      if (done === true) throw new Error('The second verifier has ended.')
      return Answer.parse(JSON.parse(value))
    },
    async close() {
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
    },
  }
}
