/** One round of reading the issues of projects: what holds up one project, or one access, holds up no other. */
import { LRUCache } from 'lru-cache'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import { hasRoom, readSince, unsettledOf, type ProjectIssues } from '#domain/project/issues.ts'
import { project } from '#domain/project/project.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { CodeHostFault, type CodeHost, type RepositoryName } from '#platform/ports/codeHost.ts'
import type { HostIssue } from '#platform/ports/codeHostIssues.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { ReadAccess, TokenFor } from '../follow/access.ts'
import { considerIssue, resumeIssue, type IssueReadingDeps, type ReadingOf } from './reading.ts'

export interface RoundDeps extends IssueReadingDeps {
  readonly codeHost: IssueReadingDeps['codeHost'] & Pick<CodeHost, 'issues' | 'repositoryById'>
  readonly documents: Pick<Documents, 'get' | 'find'>
  readonly tokenFor: TokenFor
}

/** What is remembered of a project between two rounds. It may be forgotten: everything is read again then. */
interface Memory {
  /** Under which rule: another begins anew. */
  readonly rule: string
  /** Up to which change issues were read. ISO 8601. */
  since: string
  /** Of the answer to that question. */
  etag: string | undefined
  /** Those that wait for a limit, by id. */
  readonly waiting: Map<string, HostIssue>
  /** When those were read last that changed last, by id. */
  readonly seen: LRUCache<string, string>
}

export type Memories = LRUCache<string, Memory>
export const memories = (): Memories => new LRUCache({ max: 2_000 })

export interface Round {
  /** The host seems to be away: nothing more is read. */
  isOver(): boolean
  /** Reads the issues of one project. Answers whether it should be read again soon. Throws EngineUnavailable. */
  read(projectId: string): Promise<'done' | 'soon' | 'later'>
}

/** In a row: one may be the repository's own trouble. */
const unavailableMost = 3
/** Issues of one project in one round. */
const issuesMost = 30
const waitingMost = 200
const seenMost = 500
const sameRepositoryMost = 50
/** The code host's times have seconds: what is written within this one would look as if nothing had changed. */
const freshMs = 3_000

/** Begins a round. `isStopped` ends it. */
export function round(deps: RoundDeps, known: Memories, isStopped: () => boolean): Round {
  /** Holders whose limit is used up, or whose access does nothing. */
  const resting = new Set<string>()
  let unavailable = 0
  const isOver = () => isStopped() || unavailable >= unavailableMost
  return {
    isOver,
    async read(projectId) {
      try {
        const read = await readProject(deps, known, projectId, resting)
        unavailable = 0
        return read
      } catch (fault) {
        if (fault instanceof EngineUnavailable) throw fault
        const isAway = isFault(fault, ['unavailable'])
        unavailable = isAway ? unavailable + 1 : 0
        // One that was deleted meanwhile, or whose access is gone: its page says so.
        const level = isExpected(fault) ? 'info' : 'warn'
        deps.logger[level]({ err: fault, projectId }, 'failed to read the issues of a project')
        return fault instanceof CodeHostFault ? 'later' : 'done'
      }
    },
  }
}

const isExpected = (fault: unknown): boolean =>
  fault instanceof CodeHostFault ||
  (fault instanceof Fault &&
    ['not_found', 'github_not_connected', 'not_allowed', 'sign_in_required', 'conflict'].includes(fault.code))

async function readProject(
  deps: RoundDeps,
  known: Memories,
  projectId: string,
  resting: Set<string>,
): Promise<'done' | 'soon' | 'later'> {
  const document = await deps.documents.get(projectsView, projectId)
  const issues = await issuesOf(deps, projectId)
  if (!document || document.status === 'inactive' || !issues?.rule.on) return 'done'
  const { owner, githubRepoId, githubOwner } = document
  await deps.accessControl.check(owner)
  const access = await deps.tokenFor({
    ownerId: owner,
    repositoryId: githubRepoId,
    repositoryOwner: githubOwner,
  })
  const read = async ({ holder, repositoryToken }: Pick<ReadAccess, 'holder' | 'repositoryToken'>) => {
    if (resting.has(holder)) return 'later'
    try {
      const of = await readingOf(deps, document, issues, await repositoryToken())
      return of === null ? 'done' : await readWith(deps, memoryOf(known, document.id, issues), of)
    } catch (fault) {
      if (isFault(fault, ['rate_limited'])) resting.add(holder)
      throw fault
    }
  }
  if (access.kind === 'own') return read(access)
  return read(access).catch((fault: unknown) => {
    if (isFault(fault, ['unauthorized'])) access.refused()
    // What an installation may not read, its person perhaps may.
    if (isFault(fault, ['forbidden', 'not_found'])) return read(access.own)
    throw fault
  })
}

const isFault = (fault: unknown, kinds: readonly CodeHostFault['kind'][]): boolean =>
  fault instanceof CodeHostFault && kinds.includes(fault.kind)

async function readWith(deps: RoundDeps, memory: Memory, of: ReadingOf): Promise<'done' | 'soon' | 'later'> {
  let isLater = false
  for (const taken of unsettledOf(of.issues))
    if ((await resumeIssue(deps, of, taken)) === 'later') isLater = true
  const again = await readIssues(deps, memory, of)
  return isLater ? 'later' : again
}

async function issuesOf({ commands }: RoundDeps, projectId: string): Promise<ProjectIssues | null> {
  const { state } = await commands.load(project, projectStream(projectId))
  return state.kind === 'project' ? state.issues : null
}

function memoryOf(known: Memories, projectId: string, { rule, since }: ProjectIssues): Memory {
  const now = JSON.stringify([rule, since])
  const before = known.get(projectId)
  if (before?.rule === now) return before
  const memory: Memory = {
    rule: now,
    since: readSince(since ?? new Date(0).toISOString()),
    etag: undefined,
    waiting: new Map(),
    seen: new LRUCache({ max: seenMost }),
  }
  known.set(projectId, memory)
  return memory
}

/** `null` where the repository takes no work. By its number: another may have its name by now. */
async function readingOf(
  deps: RoundDeps,
  document: ProjectDocument,
  issues: ProjectIssues,
  token: string,
): Promise<ReadingOf | null> {
  const { codeHost } = deps
  const found = await codeHost.repositoryById(token, document.githubRepoId)
  if (found === 'unchanged' || found.repository.isArchived) return null
  const { owner, name } = found.repository
  const repository: RepositoryName = { owner, name }
  const slug = issues.rule.mentions ? await codeHost.mentionName() : null
  return {
    document,
    issues,
    token,
    repository,
    slug,
    isElsewhere: (issueId) => isElsewhere(deps, document, issueId),
  }
}

/** Of several projects of a repository whose issues become tasks, the first takes them; what another took stays its own. */
async function isElsewhere(
  deps: RoundDeps,
  { id, githubRepoId }: ProjectDocument,
  issueId: string,
): Promise<boolean> {
  const projects = await deps.documents.find(projectsView, {
    where: { githubRepoId },
    sort: { field: 'order', direction: 'ascending' },
    limit: sameRepositoryMost,
  })
  let isFirst = true
  for (const other of projects) {
    if (other.id === id) {
      isFirst = false
      continue
    }
    const issues = await issuesOf(deps, other.id)
    if (issues?.taken.has(issueId)) return true
    if (isFirst && issues?.rule.on && other.status !== 'inactive') return true
  }
  return false
}

async function readIssues(
  deps: RoundDeps,
  memory: Memory,
  of: ReadingOf,
): Promise<'done' | 'soon' | 'later'> {
  const { codeHost, clock } = deps
  const { token, repository, issues } = of
  const { since, etag } = memory
  const query = { label: of.slug === null ? issues.rule.label : null, since, ...(etag ? { etag } : {}) }
  const found = await codeHost.issues(token, repository, query)
  const listed = found === 'unchanged' ? [] : found.issues
  const waiting = hasRoom(issues, clock.now().toISOString()) ? [...memory.waiting.values()] : []
  const fresh = listed.filter(
    (issue) => !issues.taken.has(issue.id) && memory.seen.get(issue.id) !== keyOf(issue),
  )
  const now = new Map([...waiting, ...fresh].map((issue) => [issue.id, issue]))
  let isLater = false
  let count = 0
  let last = since
  for (const issue of now.values()) {
    if (count === issuesMost) return 'soon'
    count += 1
    const outcome = await considerUnlessGone(deps, of, issue)
    isLater ||= outcome === 'later'
    remember(memory, issue, outcome === 'waits')
    // Marked as seen only once it was read: a fault reads it again.
    if (isPast(issue, clock.now())) memory.seen.set(issue.id, keyOf(issue))
  }
  for (const { updatedAt } of listed) if (Date.parse(updatedAt) > Date.parse(last)) last = updatedAt
  const isFresh = listed.some((issue) => !isPast(issue, clock.now()))
  // Another question has another tag.
  memory.etag =
    found === 'unchanged' ? etag : last === since && !isFresh ? (found.etag ?? undefined) : undefined
  memory.since = last
  if (isLater) return 'later'
  const isCut = found !== 'unchanged' && found.isCut
  return isFresh || isCut ? 'soon' : 'done'
}

/** One that was deleted or moved after it was listed holds up none of the others. */
async function considerUnlessGone(deps: RoundDeps, of: ReadingOf, issue: HostIssue) {
  return considerIssue(deps, of, issue).catch((fault: unknown) => {
    if (isFault(fault, ['not_found'])) return 'done'
    throw fault
  })
}

const keyOf = ({ updatedAt, labels, comments }: HostIssue): string =>
  JSON.stringify([updatedAt, labels, comments])

function remember({ waiting }: Memory, issue: HostIssue, waits: boolean): void {
  if (!waits) waiting.delete(issue.id)
  else if (waiting.size < waitingMost) waiting.set(issue.id, issue)
}

/** Whether it changed before this second, by clocks that may differ a little. */
function isPast({ updatedAt }: HostIssue, now: Date): boolean {
  const age = now.getTime() - Date.parse(updatedAt)
  return age >= freshMs || age <= -freshMs
}
