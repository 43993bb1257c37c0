/** What is remembered of projects between two rounds, in the process. */
import { LRUCache } from 'lru-cache'
import { issueLimits } from '#domain/project/issueRule.ts'
import { readFrom, type ProjectIssues } from '#domain/project/issues.ts'
import type { HostRepository } from '#platform/ports/codeHost.ts'

/** What is remembered of a project. It may be forgotten: more is read again then. */
export interface Memory {
  /** Under which rule: another begins anew. */
  readonly rule: string
  /** Up to which change issues were read. ISO 8601. */
  since: string
  /** Of the answer to that question. */
  etag: string | undefined
  /** The project's repository as it was told last, with the tag of that answer. */
  repository: { readonly found: HostRepository; readonly etag: string | undefined } | undefined
  /** When those were read last that changed last, by id. */
  readonly seen: LRUCache<string, string>
  /** When those were asked for again that wait for something else than a limit, by id, in ms of `performance.now`. */
  readonly askedAt: LRUCache<string, number>
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

const seenMost = 500

/** That of a project; anew where its rule was changed. */
export function memoryOf({ projects }: Memories, projectId: string, issues: ProjectIssues): Memory {
  const now = JSON.stringify([issues.rule, issues.since])
  const before = projects.get(projectId)
  if (before?.rule === now) return before
  const memory: Memory = {
    rule: now,
    since: readFrom(issues) ?? new Date(0).toISOString(),
    etag: undefined,
    seen: new LRUCache({ max: seenMost }),
    askedAt: new LRUCache({ max: issueLimits.passed }),
    repository: undefined,
    isFull: false,
  }
  projects.set(projectId, memory)
  return memory
}
