/** What the process remembers of projects between two rounds. */
import { LRUCache } from 'lru-cache'
import { issueLimits } from '#domain/project/issueRule.ts'
import { readFrom, type ProjectIssues } from '#domain/project/issues.ts'
import type { HostRepository } from '#platform/ports/codeHost.ts'
import type { Considered } from './reading.ts'

interface Unasked {
  readonly number: number
  /** When the issue changed, in the format of ISO 8601; `null` when the log has it among those that wait. */
  readonly updatedAt: string | null
}

/** What is remembered of a project. It may be forgotten, in which case more is read again. */
export interface Memory {
  /** Under which rule: another rule starts with an empty memory. */
  readonly rule: string
  /** The time up to which changes of issues were read. ISO 8601. */
  since: string
  /** The tag of the answer to the last query. */
  etag: string | undefined
  /** The project's repository as it was last read, with the tag of that answer. */
  repository: { readonly found: HostRepository; readonly etag: string | undefined } | undefined
  /** For each of the issues that changed last, its state when it was last read. */
  readonly seen: LRUCache<string, string>
  /**
   * When issues that are checked from time to time were last checked: by the id of the issue or of its task, in milliseconds of `performance.now`.
   */
  readonly checkedAt: LRUCache<string, number>
  /** Issues, by id, that were passed over because the people who ask for them could not be checked. */
  readonly unasked: Map<string, Unasked>
  /** Issues, by id, that were accepted because of a mention that is no longer wanted, and were read again for their label. */
  readonly reconsidered: Set<string>
  /** Whether the project's owner had too many tasks at once. */
  isFull: boolean
}

export interface Memories {
  readonly projects: LRUCache<string, Memory>
  /** How often in a row a project could not be read for now. */
  readonly failures: LRUCache<string, number>
}
export const memories = (): Memories => ({
  projects: new LRUCache({ max: 2_000 }),
  failures: new LRUCache({ max: 2_000 }),
})

const maxSeen = 500
/** Room for all issues that are checked from time to time: one that is forgotten would have its turn before the others. */
const maxChecked = issueLimits.passed + 2 * issueLimits.waiting

/** The memory of a project; an empty one if the project's rule was changed. */
export function memoryOf({ projects }: Memories, projectId: string, issues: ProjectIssues): Memory {
  const now = JSON.stringify([issues.rule, issues.since])
  const before = projects.get(projectId)
  if (before?.rule === now) return before
  const memory: Memory = {
    rule: now,
    since: readFrom(issues) ?? new Date(0).toISOString(),
    etag: undefined,
    seen: new LRUCache({ max: maxSeen }),
    checkedAt: new LRUCache({ max: maxChecked }),
    unasked: new Map(),
    reconsidered: new Set(),
    repository: undefined,
    isFull: false,
  }
  projects.set(projectId, memory)
  return memory
}

/** Records the outcome for an issue: one that `passes` or is `unasked` is checked again after a while. */
export function noteOutcome(
  { checkedAt, unasked }: Pick<Memory, 'checkedAt' | 'unasked'>,
  { id, ...issue }: Unasked & { readonly id: string },
  outcome: Considered,
): void {
  if (outcome === 'passes' || outcome === 'unasked') checkedAt.set(id, performance.now())
  else checkedAt.delete(id)
  if (outcome !== 'unasked') unasked.delete(id)
  else if (!unasked.has(id)) unasked.set(id, issue)
}

/** The time up to which nothing was left out. Issues that only this memory has are read again after a restart. */
export function readUpTo({ since, unasked }: Pick<Memory, 'since' | 'unasked'>): string {
  const times = [...unasked.values()].map(({ updatedAt }) => updatedAt ?? since)
  return times.reduce((first, time) => (Date.parse(time) < Date.parse(first) ? time : first), since)
}

/** The issues that are due to be checked again, beginning with the one that was checked longest ago. */
export function dueOf<One>(
  { checkedAt }: Pick<Memory, 'checkedAt'>,
  all: readonly One[],
  idOf: (one: One) => string,
  passingMs: number,
): readonly One[] {
  const now = performance.now()
  return all
    .map((one) => ({ at: checkedAt.peek(idOf(one)) ?? Number.MIN_SAFE_INTEGER, one }))
    .filter(({ at }) => now - at >= passingMs)
    .toSorted((one, other) => one.at - other.at)
    .map(({ one }) => one)
}
