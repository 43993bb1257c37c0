/** What an operator does beside the running product: sees the jobs that were set aside, and queues one again. */
import type { Jobs } from '#platform/ports/jobs.ts'

/** The kinds of job there are; the queue keeps what was set aside by kind. */
const kinds = ['execution', 'pull_request', 'erasure'] as const
const shownAtMost = 1_000

/** The words are none that this knows. */
export class UnknownWords extends Error {
  override readonly name = 'UnknownWords'
}

/** What an operator asked for, once there is a queue: the lines that answer it. */
export type Operation = (engines: { readonly jobs: Jobs }) => Promise<readonly string[]>

/**
 * `jobs` gives a line for each job that was set aside, newest first of its kind; `jobs requeue <id>` queues one again; no words are no
 * operation. Throws `UnknownWords`, before anything is opened.
 */
export function operationOf(words: readonly string[]): Operation | undefined {
  const [subject, verb, id, ...rest] = words
  if (subject === undefined) return undefined
  if (subject === 'jobs' && verb === undefined) return ({ jobs }) => listed(jobs)
  if (subject !== 'jobs' || verb !== 'requeue' || id === undefined || rest.length > 0)
    throw new UnknownWords(`${words.join(' ')}: there is no such command.`)
  return async ({ jobs }) => [
    (await jobs.requeue(id)) ? `${id} is queued again.` : `No job ${id} was set aside.`,
  ]
}

async function listed(jobs: Jobs): Promise<readonly string[]> {
  const lines: string[] = []
  for (const kind of kinds) {
    for (const { job, reason } of await jobs.rejected(kind, shownAtMost)) {
      const payload = Object.entries(job.payload).map(([name, value]) => `${name}=${value}`)
      // A reason may be a stack: the first line names it.
      lines.push([job.id, kind, ...payload, reason.split('\n')[0]].join('  '))
    }
  }
  return lines.length > 0 ? lines : ['No job was set aside.']
}
