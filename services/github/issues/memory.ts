/** What is remembered of each project between two rounds of reading its issues. */
import { LRUCache } from 'lru-cache'
import { issueLimits } from '#domain/project/issueRule.ts'
import { readFrom, type ProjectIssues } from '#domain/project/issues.ts'
import { atMost } from '#platform/atMost.ts'
import type { HostRepository } from '#platform/ports/codeHost.ts'
import type { Considered } from './considerIssue.ts'

interface Unasked {
  readonly number: number
  /** When the issue last changed (ISO 8601); `null` if the log already says that the issue waits. */
  readonly updatedAt: string | null
}

/** The memory of one project. If it is lost, more is read again. */
export interface Memory {
  /** The project's rule for issues when the memory was made. With another rule, the memory starts empty. */
  readonly rule: string
  /** The time up to which changed issues were read. ISO 8601. */
  since: string
  /** The ETag of the answer to the query with `since`. */
  etag: string | undefined
  /** The project's repository as last read, with the ETag of that answer. */
  repository: { readonly found: HostRepository; readonly etag: string | undefined } | undefined
  /** The states, by issue id, in which recently changed issues were last read. */
  readonly seen: LRUCache<string, string>
  /** When repeatedly checked issues were last checked: by id of the issue or of its task, in ms of `performance.now`. */
  readonly checkedAt: LRUCache<string, number>
  /** Issues, by id, that were passed over because the accounts of the people who requested them could not be checked. */
  readonly unasked: Map<string, Unasked>
  /**
   * The ids of issues that were read again while they waited. An issue that was accepted because of a mention, before mentions were switched off, is
   * read again only once.
   */
  readonly reconsidered: Set<string>
  /** Whether the project's owner had too many tasks at the last check. */
  isFull: boolean
}

export interface Memories {
  readonly projects: LRUCache<string, Memory>
  /** How many times in a row a project could not be read because of a temporary fault. */
  readonly failures: LRUCache<string, number>
}
export const memories = (): Memories => ({
  projects: new LRUCache({ max: 2_000 }),
  failures: new LRUCache({ max: 2_000 }),
})

const maxSeen = 500
/** Large enough for all repeatedly checked issues, because an issue that is dropped would be checked again too early. */
const maxChecked = issueLimits.passedOver + 2 * issueLimits.waiting

/** The memory of a project; an empty one if its rule has changed. */
export function memoryOf({ projects }: Memories, projectId: string, issues: ProjectIssues): Memory {
  const now = JSON.stringify([issues.rule, issues.since])
  const before = projects.get(projectId)
  if (before?.rule === now) return before
  const memory: Memory = {
    rule: now,
    since: readFrom(issues) ?? new Date(0).toISOString(),
    etag: undefined,
    seen: new LRUCache({ max: maxSeen }),
    checkedAt: new LRUCache(atMost(maxChecked)),
    unasked: new Map(),
    reconsidered: new Set(),
    repository: undefined,
    isFull: false,
  }
  projects.set(projectId, memory)
  return memory
}

/** Records the outcome for an issue in memory. Issues whose outcome is `passes` or `unasked` are checked again after a while. */
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

/** The time up to which all issues are done. Issues that wait only in this memory count as not done, so that a restart reads them again. */
export function readUpTo({ since, unasked }: Pick<Memory, 'since' | 'unasked'>): string {
  const times = [...unasked.values()].map(({ updatedAt }) => updatedAt ?? since)
  return times.reduce((first, time) => (Date.parse(time) < Date.parse(first) ? time : first), since)
}

/** The items that are due for another check, the least recently checked first. */
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
