/** One round of reading the issues of projects. A fault of one project, or of one access, does not stop the others. */
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import { isLimit, issueLimits } from '#domain/project/issueRule.ts'
import { isNews, isTaken, type ProjectIssues } from '#domain/project/issues.ts'
import { projectDecider } from '#domain/project/project.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { bySystem } from '#platform/commands/causation.ts'
import { CodeHostFault, type CodeHost, type RepositoryName } from '#platform/ports/codeHost.ts'
import type { HostIssue } from '#platform/ports/codeHostIssues.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { ReadAccess } from '../access.ts'
import type { Round } from '../refresh/readings.ts'
import { isFault, isHostUnavailable, refusals } from '../faults.ts'
import { memoryOf, noteOutcome, readUpTo, type Memories, type Memory } from './memory.ts'
import {
  isElsewhere,
  isMadeElsewhere,
  issuesOf,
  mayPush,
  OwnerLimited,
  type OwnerDeps,
} from './projectOwners.ts'
import { considerIssue, settleUnwanted, type IssueReadingDeps, type ReadingOf } from './considerIssue.ts'
import { maxIssues, readWaiting, resumeTaken, unlessGone } from './waitingIssues.ts'

export interface RoundDeps extends IssueReadingDeps, OwnerDeps {
  readonly commands: IssueReadingDeps['commands']
  readonly codeHost: IssueReadingDeps['codeHost'] & Pick<CodeHost, 'issues' | 'repositoryById'>
  readonly documents: Pick<Documents, 'get' | 'find'>
}

interface RoundOptions {
  readonly isStopped: () => boolean
  /** The least time between two checks of a waiting issue, in ms. Issues that wait for room are checked as soon as there is room. */
  readonly passingMs: number
}

/** After this many failures in a row, the code host counts as unavailable. A single failure may be caused by the repository. */
const maxUnavailable = 3
/** After this many temporary failures in a row, they are reported on the project. */
const maxFailures = 5
/**
 * How long after its last change an issue counts as fresh and is read again. The code host's times have a resolution of one second, so a later change
 * within the same second would otherwise go unnoticed.
 */
const freshMs = 3_000

/** Starts a round. Its `read` reads the issues of one project; the caller decides which projects are read. */
export function round(
  deps: RoundDeps,
  known: Memories,
  { isStopped, passingMs }: RoundOptions,
): Round<{ readonly id: string }> {
  /** The holders whose rate limit is used up. No project is read with their access for the rest of the round. */
  const resting = new Set<string>()
  let unavailable = 0
  const isOver = () => isStopped() || unavailable >= maxUnavailable
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
        // Expected faults, such as a deleted project or a lost access, cause no warning.
        const level = isExpected(fault) ? 'info' : 'warn'
        deps.logger[level]({ err: fault, projectId }, 'failed to read the issues of a project')
        await noteUnread(deps, known, projectId, fault)
        return isHostUnavailable(fault) ? 'later' : 'done'
      }
    },
  }
}

const isExpected = (fault: unknown): boolean =>
  isHostUnavailable(fault) ||
  fault instanceof CodeHostFault ||
  (fault instanceof Fault && ['not_found', 'conflict', ...refusals].includes(fault.code))

/**
 * Records on the project why its issues cannot be read, if the cause is the code host or the owner's access: at once for a lasting fault, after
 * several failures for a temporary one. A used-up rate limit is not recorded, since it resets by itself.
 */
async function noteUnread(
  { commands, logger }: RoundDeps,
  { failures }: Memories,
  projectId: string,
  fault: unknown,
): Promise<void> {
  if (isFault(fault, ['rate_limited'])) return
  const isHost = fault instanceof CodeHostFault
  if (!isHost && !(fault instanceof Fault && [...refusals, 'code_host_unavailable'].includes(fault.code)))
    return
  const times = (failures.get(projectId) ?? 0) + 1
  failures.set(projectId, times)
  if (isHostUnavailable(fault) && times < maxFailures) return
  const code = isHost ? fault.kind : fault.code
  const command = { type: 'NoteIssuesUnread', code, reason: fault.message } as const
  try {
    await commands.execute(projectDecider, projectStream(projectId), command, bySystem('issues'))
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
  const issues = await settledIssuesOf(deps, projectId)
  if (!document || !issues) return 'done'
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
      const memory = memoryOf(known, document.id, issues)
      const of = await readingOf(deps, memory, document, issues, await repositoryToken())
      if (of === null) return 'done'
      const again = await readWith(deps, memory, of, passingMs)
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
    // The person may be able to read what the installation cannot.
    if (isFault(fault, ['unauthorized', 'forbidden', 'not_found'])) return read(access.own)
    throw fault
  })
}

/** Like `issuesOf`, but first records an outcome for accepted issues that are no longer wanted. */
async function settledIssuesOf(deps: RoundDeps, projectId: string): Promise<ProjectIssues | null> {
  const issues = await issuesOf(deps, projectId)
  const isOther = issues !== null && (await settleUnwanted(deps, projectId, issues))
  return isOther ? issuesOf(deps, projectId) : issues
}

async function readWith(
  deps: RoundDeps,
  memory: Memory,
  of: ReadingOf,
  passingMs: number,
): Promise<'done' | 'soon' | 'later'> {
  const { issues, document } = of
  let isLater = await resumeTaken(deps, memory, of, passingMs)
  if (await readWaiting(deps, memory, of, passingMs)) isLater = true
  const again = await readIssues(deps, memory, of)
  const upTo = readUpTo(memory)
  if (isNews(issues, upTo)) {
    const command = { type: 'NoteIssuesRead', upTo } as const
    await deps.commands.execute(projectDecider, projectStream(document.id), command, bySystem('issues'))
  }
  return isLater && again === 'done' ? 'later' : again
}

/**
 * Reads the repository and prepares the reading of its issues. Returns `null` when the repository is archived. The repository is read by its number,
 * since another repository may have taken over the name.
 */
async function readingOf(
  deps: RoundDeps,
  memory: Memory,
  document: ProjectDocument,
  issues: ProjectIssues,
  token: string,
): Promise<ReadingOf | null> {
  const { codeHost } = deps
  const read = await codeHost.repositoryById(token, document.githubRepoId, memory.repository?.etag)
  if (read !== 'unchanged') memory.repository = { found: read.repository, etag: read.etag ?? undefined }
  const found = memory.repository?.found
  if (found === undefined || found.isArchived) return null
  const { owner, name } = found
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
    isMadeElsewhere: (issueId) => isMadeElsewhere(deps, document, issueId),
  }
}

function once<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asked: Promise<Answer> | undefined
  return () => (asked ??= ask())
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
  // Forgets the ETag until everything is read. If the reading ended early, a request with this ETag would be answered as unchanged, and the rest
  // would be lost.
  memory.etag = undefined
  let count = 0
  const isWaiting = (id: string) => {
    const reason = issues.passedOver.get(id)?.reason
    return memory.unasked.has(id) || (reason !== undefined && isLimit(reason))
  }
  let waiting = new Set([...issues.passedOver.keys(), ...memory.unasked.keys()].filter(isWaiting)).size
  let isLater = false
  for (const issue of found.issues) {
    if (!isTaken(issues, issue.id) && memory.seen.get(issue.id) !== keyOf(issue)) {
      if (count === maxIssues) return 'soon'
      // So many issues wait that this issue is not read now. It is read when fewer issues wait.
      if (waiting >= issueLimits.waiting) return isLater ? 'later' : 'done'
      count += 1
      const wasWaiting = isWaiting(issue.id)
      const outcome = await unlessGone(deps, of, issue.id, () => considerIssue(deps, of, issue))
      noteOutcome(memory, issue, outcome)
      isLater ||= outcome === 'later'
      if ((outcome === 'waits' || outcome === 'unasked') && !wasWaiting) waiting += 1
      // The issue is remembered only after it was read, so that a fault leads to another attempt.
      if (isPast(issue, clock.now())) memory.seen.set(issue.id, keyOf(issue))
    }
    if (Date.parse(issue.updatedAt) > Date.parse(memory.since)) memory.since = issue.updatedAt
  }
  const isFresh = found.issues.some((issue) => !isPast(issue, clock.now()))
  // The ETag belongs to the query with `since`. If `memory.since` has changed, the next query is another one, so the ETag is useless.
  if (memory.since === since && !isFresh) memory.etag = found.etag ?? undefined
  if (isFresh || found.isCut) return 'soon'
  return isLater ? 'later' : 'done'
}

const keyOf = ({ updatedAt, labels, comments }: HostIssue): string =>
  JSON.stringify([updatedAt, labels, comments])

/**
 * Whether the last change is so old that a later change would have a later `updatedAt`, which is in seconds. A time that is equally far in the future
 * counts as old too, since the clocks then differ too much to tell.
 */
function isPast({ updatedAt }: HostIssue, now: Date): boolean {
  const age = now.getTime() - Date.parse(updatedAt)
  return age >= freshMs || age <= -freshMs
}
