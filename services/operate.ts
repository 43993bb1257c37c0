/** What an operator does beside the running product: sees the jobs that were set aside, queues one again, checks the log. */
import type { EventStore } from '#platform/ports/eventStore.ts'
import type { Jobs } from '#platform/ports/jobs.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { digestThreads } from '#platform/verify/digestThreads.ts'
import { verifyLog } from '#platform/verify/verify.ts'

/** The kinds of job there are; the queue keeps what was set aside by kind. */
const kinds = ['execution', 'pull_request', 'erasure'] as const
const shownAtMost = 1_000

/** The words are none that this knows. */
export class UnknownWords extends Error {
  override readonly name = 'UnknownWords'
}

/** What an operation works on; `progress` is told of a line that the next one takes the place of. */
export interface Operating {
  readonly jobs: Jobs
  readonly eventStore: EventStore
  readonly vault: Vault
  readonly progress: (line: string) => void
}

/** The lines that answer an operator; `failed` when what was looked at is not as it should be. */
export interface Answer {
  readonly lines: readonly string[]
  readonly failed?: boolean
}

/** What an operator asked for, once there are engines. */
export type Operation = (engines: Operating) => Promise<Answer>

/**
 * `verify` checks the whole log; `jobs` gives a line for each job that was set aside, newest first of its kind; `jobs requeue <id>` queues one again; no words are no
 * operation. Throws `UnknownWords`, before anything is opened.
 */
export function operationOf(words: readonly string[]): Operation | undefined {
  const [subject, verb, id, ...rest] = words
  if (subject === undefined) return undefined
  if (subject === 'verify' && verb === undefined) return verified
  if (subject === 'jobs' && verb === undefined) return listed
  if (subject !== 'jobs' || verb !== 'requeue' || id === undefined || rest.length > 0)
    throw new UnknownWords(`${words.join(' ')}: there is no such command.`)
  return async ({ jobs }) => ({
    lines: [(await jobs.requeue(id)) ? `${id} is queued again.` : `No job ${id} was set aside.`],
  })
}

async function verified({ eventStore, vault, progress }: Operating): Promise<Answer> {
  const threads = digestThreads()
  try {
    const { events, streams, erased, findings, more } = await verifyLog(
      { eventStore, vault },
      threads.digest,
      (count) => progress(`${count} events checked`),
    )
    const looked = `${events} events in ${streams} streams were checked; the content of ${erased} was erased.`
    if (findings.length === 0) return { lines: [`The log is whole: ${looked}`] }
    return {
      failed: true,
      lines: [
        ...findings.map(({ sentence }) => sentence),
        ...(more > 0 ? [`${more} more are not listed.`] : []),
        `The log is not whole: ${looked}`,
      ],
    }
  } finally {
    await threads.close()
  }
}

async function listed({ jobs }: Operating): Promise<Answer> {
  const lines: string[] = []
  for (const kind of kinds) {
    for (const { job, reason } of await jobs.rejected(kind, shownAtMost)) {
      const payload = Object.entries(job.payload).map(([name, value]) => `${name}=${value}`)
      // A reason may be a stack: the first line names it.
      lines.push([job.id, kind, ...payload, reason.split('\n')[0]].join('  '))
    }
  }
  return { lines: lines.length > 0 ? lines : ['No job was set aside.'] }
}
