/** One round of reading the issues of projects: what holds up one project, or one access, holds up no other. */
import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import { isLimit, issueLimits, mayPassAway } from '#domain/project/issueRule.ts'
import {
  hasRoom,
  isNews,
  isTaken,
  isUnwanted,
  readFrom,
  unsettledOf,
  type ProjectIssues,
} from '#domain/project/issues.ts'
import { project } from '#domain/project/project.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { CodeHostFault, type CodeHost, type RepositoryName } from '#platform/ports/codeHost.ts'
import type { HostIssue } from '#platform/ports/codeHostIssues.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { ReadAccess, TokenFor } from '../follow/access.ts'
import type { Round } from '../readings.ts'
import {
  considerIssue,
  resumeIssue,
  settleUnwanted,
  withdraw,
  type IssueReadingDeps,
  type ReadingOf,
} from './reading.ts'

export interface RoundDeps extends IssueReadingDeps {
  readonly codeHost: IssueReadingDeps['codeHost'] & Pick<CodeHost, 'issues' | 'issue' | 'repositoryById'>
  readonly documents: Pick<Documents, 'get' | 'find'>
  readonly tokenFor: TokenFor
}

const actor = { kind: 'system', service: 'issues' } as const

/** What is remembered of a project between two rounds. It may be forgotten: more is read again then. */
interface Memory {
  /** Under which rule: another begins anew. */
  readonly rule: string
  /** Up to which change issues were read. ISO 8601. */
  since: string
  /** Of the answer to that question. */
  etag: string | undefined
  /** When those were read last that changed last, by id. */
  readonly seen: LRUCache<string, string>
  /** When those were asked for again that wait for something else than a limit, by id, in ms of `performance.now`. */
  readonly askedAt: LRUCache<string, number>
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

interface RoundOptions {
  /** Ends the round. */
  readonly isStopped: () => boolean
  /** Between two questions whether an issue waits still, in ms. */
  readonly passingMs: number
}

/** In a row: one may be the repository's own trouble. */
const unavailableMost = 3
/** In a row, before what may pass by itself is told. */
const failuresMost = 5
/** Issues of one project in one round, and of those that wait for something else than a limit. */
const issuesMost = 30
const passingMost = 3
const seenMost = 500
const sameRepositoryMost = 50
/** The code host's times have seconds: what is written within this one would look as if nothing had changed. */
const freshMs = 3_000

/** Begins a round. */
export function round(
  deps: RoundDeps,
  known: Memories,
  { isStopped, passingMs }: RoundOptions,
): Round<{ readonly id: string }> {
  /** Holders whose limit is used up, or whose access does nothing. */
  const resting = new Set<string>()
  let unavailable = 0
  const isOver = () => isStopped() || unavailable >= unavailableMost
  return {
    isOver,
    async read({ id: projectId }) {
      try {
        const read = await readProject(deps, { known, resting, passingMs }, projectId)
        unavailable = 0
        return read
      } catch (fault) {
        if (fault instanceof EngineUnavailable) throw fault
        const isAway = isFault(fault, ['unavailable'])
        unavailable = isAway ? unavailable + 1 : 0
        // One that was deleted meanwhile, or whose access is gone: its page says so.
        const level = isExpected(fault) ? 'info' : 'warn'
        deps.logger[level]({ err: fault, projectId }, 'failed to read the issues of a project')
        await noteUnread(deps, known, projectId, fault)
        return isPassing(fault) || fault instanceof CodeHostFault ? 'later' : 'done'
      }
    },
  }
}

const refusals = ['github_not_connected', 'not_allowed', 'sign_in_required']

const isExpected = (fault: unknown): boolean =>
  isPassing(fault) ||
  fault instanceof CodeHostFault ||
  (fault instanceof Fault && ['not_found', 'conflict', ...refusals].includes(fault.code))

const isPassing = (fault: unknown): boolean =>
  isFault(fault, ['unavailable', 'rate_limited']) ||
  (fault instanceof Fault && fault.code === 'code_host_unavailable')

/** Has the project say why its issues cannot be read: at once, or where that may pass after some times. */
async function noteUnread(
  { commands, logger }: RoundDeps,
  { failures }: Memories,
  projectId: string,
  fault: unknown,
): Promise<void> {
  const isHost = fault instanceof CodeHostFault
  if (!isHost && !(fault instanceof Fault && [...refusals, 'code_host_unavailable'].includes(fault.code)))
    return
  const times = (failures.get(projectId) ?? 0) + 1
  failures.set(projectId, times)
  if (isPassing(fault) && times < failuresMost) return
  const code = isHost ? fault.kind : fault.code
  const command = { type: 'NoteIssuesUnread', code, reason: fault.message } as const
  try {
    await commands.execute(project, projectStream(projectId), command, { actor, commandId: randomUUID() })
  } catch (refused) {
    if (!(refused instanceof Fault)) throw refused
    logger.debug({ err: refused, projectId }, 'a project whose issues cannot be read is gone')
  }
}

interface Rounding {
  readonly known: Memories
  readonly resting: Set<string>
  readonly passingMs: number
}

async function readProject(
  deps: RoundDeps,
  { known, resting, passingMs }: Rounding,
  projectId: string,
): Promise<'done' | 'soon' | 'later'> {
  const document = await deps.documents.get(projectsView, projectId)
  const issues = await issuesOf(deps, projectId)
  if (!document || !issues) return 'done'
  await settleUnwanted(deps, projectId, issues)
  if (document.status === 'inactive' || !issues.rule.on) return 'done'
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
      if (of === null) return 'done'
      const again = await readWith(deps, memoryOf(known, document.id, issues), of, passingMs)
      known.failures.delete(projectId)
      return again
    } catch (fault) {
      if (isFault(fault, ['rate_limited']) && !(fault instanceof OwnerLimited)) resting.add(holder)
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

async function readWith(
  deps: RoundDeps,
  memory: Memory,
  of: ReadingOf,
  passingMs: number,
): Promise<'done' | 'soon' | 'later'> {
  const { issues, document } = of
  let isLater = false
  for (const taken of unsettledOf(issues))
    if (!isUnwanted(issues, taken) && (await resumeIssue(deps, of, taken)) === 'later') isLater = true
  if (await readWaiting(deps, memory, of, passingMs)) isLater = true
  const again = await readIssues(deps, memory, of)
  if (isNews(issues, memory.since)) {
    const command = { type: 'NoteIssuesRead', upTo: memory.since } as const
    const cause = { actor, commandId: randomUUID() }
    await deps.commands.execute(project, projectStream(document.id), command, cause)
  }
  return isLater ? 'later' : again
}

async function issuesOf({ commands }: RoundDeps, projectId: string): Promise<ProjectIssues | null> {
  const { state } = await commands.load(project, projectStream(projectId))
  return state.kind === 'project' ? state.issues : null
}

function memoryOf({ projects }: Memories, projectId: string, issues: ProjectIssues): Memory {
  const now = JSON.stringify([issues.rule, issues.since])
  const before = projects.get(projectId)
  if (before?.rule === now) return before
  const memory: Memory = {
    rule: now,
    since: readFrom(issues) ?? new Date(0).toISOString(),
    etag: undefined,
    seen: new LRUCache({ max: seenMost }),
    askedAt: new LRUCache({ max: issueLimits.passed }),
  }
  projects.set(projectId, memory)
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
    ownerMayWrite: once(() => mayPush(deps, document.owner, document.githubRepoId)),
    isElsewhere: (issueId) => isElsewhere(deps, document, issueId),
  }
}

function once<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asked: Promise<Answer> | undefined
  return () => (asked ??= ask())
}

/** The limit of a project's owner is used up, by whose access nothing is read here: it holds up no project but theirs. */
class OwnerLimited extends CodeHostFault {}

/**
 * Whether somebody may use this server and push to a repository: by their own access, as at a push of their task. Throws where that is not
 * known for now.
 */
async function mayPush(deps: RoundDeps, ownerId: string, githubRepoId: string): Promise<boolean> {
  try {
    await deps.accessControl.check(ownerId)
    const access = await deps.tokenFor({ ownerId, repositoryId: null })
    const own = access.kind === 'own' ? access : access.own
    const found = await deps.codeHost.repositoryById(await own.token(), githubRepoId)
    return found !== 'unchanged' && found.repository.mayPush === true
  } catch (fault) {
    if (isFault(fault, ['unauthorized', 'forbidden', 'not_found'])) return false
    if (fault instanceof Fault && refusals.includes(fault.code)) return false
    if (fault instanceof CodeHostFault && fault.kind === 'rate_limited')
      throw new OwnerLimited('rate_limited', fault.message, fault, fault.retryAfterMs)
    throw fault
  }
}

/**
 * Of several projects of a repository whose issues become tasks, the first takes them; what another took stays its own. Those whose owner may
 * not push do not count: else whoever reads a repository could keep its issues from its team.
 */
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
    const isItsOwn = issues !== null && isTaken(issues, issueId)
    const isTaking = isFirst && issues?.rule.on === true && other.status !== 'inactive'
    if (!isItsOwn && !isTaking) continue
    const counts = await mayPush(deps, other.owner, githubRepoId).catch((fault: unknown) => {
      // Nobody's used up limit holds up others: what was taken counts meanwhile, and what may be taken does not.
      if (isPassing(fault)) return isItsOwn
      throw fault
    })
    if (counts) return true
  }
  return false
}

/** Reads issues again that wait: for a limit once there is room, for something else now and then. Answers whether a task could not be made yet. */
async function readWaiting(
  deps: RoundDeps,
  { askedAt }: Memory,
  of: ReadingOf,
  passingMs: number,
): Promise<boolean> {
  const { issues } = of
  const now = performance.now()
  const isDue = (id: string) => now - (askedAt.get(id) ?? Number.NEGATIVE_INFINITY) >= passingMs
  const passed = [...issues.passed]
  const limited = hasRoom(issues, deps.clock.now().toISOString())
    ? passed.filter(([, { reason }]) => isLimit(reason)).slice(0, issuesMost)
    : []
  const others = passed.filter(([id, { reason }]) => mayPassAway(reason) && isDue(id)).slice(0, passingMost)
  let isLater = false
  let isFull = false
  for (const [id, { reason, words }] of [...others, ...limited]) {
    if (isFull && isLimit(reason)) break
    askedAt.set(id, now)
    const outcome = await unlessGone(deps, of, id, async () =>
      considerIssue(deps, of, await deps.codeHost.issue(of.token, of.repository, words.number)),
    )
    isLater ||= outcome === 'later'
    isFull ||= outcome === 'waits'
  }
  return isLater
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
  if (found === 'unchanged') return 'done'
  // Only what was read to its end is not asked for again.
  memory.etag = undefined
  let count = 0
  let waiting = [...issues.passed.values()].filter(({ reason }) => isLimit(reason)).length
  let isLater = false
  for (const issue of found.issues) {
    if (!isTaken(issues, issue.id) && memory.seen.get(issue.id) !== keyOf(issue)) {
      if (count === issuesMost) return 'soon'
      // The next are read once there is room for those that wait.
      if (waiting >= issueLimits.waiting) return isLater ? 'later' : 'done'
      count += 1
      const outcome = await unlessGone(deps, of, issue.id, () => considerIssue(deps, of, issue))
      isLater ||= outcome === 'later'
      if (outcome === 'waits' && !issues.passed.has(issue.id)) waiting += 1
      memory.askedAt.set(issue.id, performance.now())
      // Marked as seen only once it was read: a fault reads it again.
      if (isPast(issue, clock.now())) memory.seen.set(issue.id, keyOf(issue))
    }
    if (Date.parse(issue.updatedAt) > Date.parse(memory.since)) memory.since = issue.updatedAt
  }
  const isFresh = found.issues.some((issue) => !isPast(issue, clock.now()))
  // Another question has another tag.
  if (memory.since === since && !isFresh) memory.etag = found.etag ?? undefined
  if (isLater) return 'later'
  return isFresh || found.isCut ? 'soon' : 'done'
}

/** One that was deleted or moved after it was listed holds up none of the others. */
async function unlessGone<Outcome>(
  deps: RoundDeps,
  of: ReadingOf,
  issueId: string,
  consider: () => Promise<Outcome>,
): Promise<Outcome | 'done'> {
  return consider().catch((fault: unknown) => {
    if (isFault(fault, ['not_found'])) return withdraw(deps, of, issueId)
    throw fault
  })
}

const keyOf = ({ updatedAt, labels, comments }: HostIssue): string =>
  JSON.stringify([updatedAt, labels, comments])

/** Whether it changed before this second, by clocks that may differ a little. */
function isPast({ updatedAt }: HostIssue, now: Date): boolean {
  const age = now.getTime() - Date.parse(updatedAt)
  return age >= freshMs || age <= -freshMs
}
