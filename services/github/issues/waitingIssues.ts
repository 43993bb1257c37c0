/** Issues that wait: accepted issues without a task yet, and issues that were passed over for now. */
import { isLimit } from '#domain/project/issueRule.ts'
import {
  hasRoom,
  isNoLongerCovered,
  isUnwantedMention,
  unsettledOf,
  type ProjectIssues,
} from '#domain/project/issues.ts'
import { hasNoRoomYet } from '#platform/commands/admission.ts'
import { isFault } from '../faults.ts'
import { dueOf, noteOutcome, type Memory } from './memory.ts'
import {
  considerIssue,
  resumeIssue,
  withdraw,
  type Considered,
  type IssueReadingDeps,
  type ReadingOf,
} from './considerIssue.ts'

/**
 * The most issues that a round handles of each list of a project: `maxPassing` if the issues are only checked from time to time, `maxIssues`
 * otherwise.
 */
export const maxIssues = 30
const maxPassing = 3

/**
 * Continues with accepted issues that have no task yet: only from time to time with an issue whose requester could not be checked, and only with a
 * few issues while the owner has no room for more tasks. Returns whether the issues wait for room.
 */
export async function resumeTaken(
  deps: IssueReadingDeps,
  memory: Memory,
  of: ReadingOf,
  passingMs: number,
): Promise<boolean> {
  const taken = unsettledOf(of.issues).filter((one) => !isNoLongerCovered(of.issues, one))
  if (taken.length === 0) return false
  // Checks for room first, so that issues that wait for room cause few requests.
  const isFull = !(await hasRoomFor(deps, of.document.owner))
  if (memory.isFull && !isFull) for (const { taskId } of taken) memory.checkedAt.delete(taskId)
  memory.isFull = isFull
  const due = dueOf(memory, taken, ({ taskId }) => taskId, passingMs)
  for (const one of due.slice(0, isFull ? maxPassing : maxIssues)) {
    const outcome = await resumeIssue(deps, of, one)
    if (outcome === 'done') continue
    memory.checkedAt.set(one.taskId, performance.now())
    if (outcome !== 'full') continue
    memory.isFull = true
    if (!isFull) break
  }
  return memory.isFull
}

async function hasRoomFor({ admission }: IssueReadingDeps, ownerId: string): Promise<boolean> {
  try {
    const release = await admission.admit(ownerId)
    release(null)
    return true
  } catch (fault) {
    if (hasNoRoomYet(fault)) return false
    throw fault
  }
}

/**
 * Reads waiting issues again. Issues that wait for a limit are read when there is room, and all others from time to time. Returns whether a task
 * could not be made yet.
 */
export async function readWaiting(
  deps: IssueReadingDeps,
  memory: Memory,
  of: ReadingOf,
  passingMs: number,
): Promise<boolean> {
  const { issues } = of
  const passed = [...issues.passedOver]
    .map(([id, { words, ...one }]) => ({ ...one, id, number: words.number }))
    .filter((one) => one.isWaiting && !memory.unasked.has(one.id))
  const unasked = [...memory.unasked].map(([id, { number }]) => ({ id, number }))
  const limited = hasRoom(issues, deps.clock.now().toISOString())
    ? passed.filter(({ reason }) => isLimit(reason))
    : []
  const others = passed.filter(({ reason }) => !isLimit(reason))
  const due = dueOf(memory, [...unwantedOf(memory, issues), ...others, ...unasked], ({ id }) => id, passingMs)
  let isLater = false
  for (const one of due.slice(0, maxPassing)) {
    if ((await readAgain(deps, memory, of, one)) === 'later') isLater = true
    memory.reconsidered.add(one.id)
  }
  for (const one of limited.slice(0, maxIssues)) {
    const outcome = await readAgain(deps, memory, of, one)
    if (outcome === 'later') isLater = true
    if (outcome === 'waits') break
  }
  return isLater
}

/**
 * Issues that were accepted because of a mention, and made no task because mentions were switched off. They are read once more, since a label that
 * requests them may have been set before the time from which changed issues are read.
 */
function unwantedOf({ reconsidered, unasked }: Memory, issues: ProjectIssues) {
  const isDue = (id: string) => !reconsidered.has(id) && !unasked.has(id) && !issues.passedOver.has(id)
  return [...issues.taken].flatMap(([id, { words, ...one }]) =>
    words !== null && isUnwantedMention(issues, one) && isDue(id) ? [{ id, number: words.number }] : [],
  )
}

async function readAgain(
  deps: IssueReadingDeps,
  memory: Memory,
  of: ReadingOf,
  { id, number }: { readonly id: string; readonly number: number },
): Promise<Considered> {
  // The check is recorded even if the reading fails, so that the next issue has its turn.
  memory.checkedAt.set(id, performance.now())
  const outcome = await unlessGone(deps, of, id, async () => {
    const found = await deps.codeHost.issue(of.token, of.repository, number)
    // The number of an issue that was moved redirects to another issue.
    return found.id === id ? considerIssue(deps, of, found) : withdraw(deps, of, id)
  })
  noteOutcome(memory, { id, number, updatedAt: null }, outcome)
  return outcome
}

/** Runs the work on an issue. Withdraws the issue if it was deleted or moved meanwhile. */
export async function unlessGone<Outcome>(
  deps: IssueReadingDeps,
  of: ReadingOf,
  issueId: string,
  consider: () => Promise<Outcome>,
): Promise<Outcome | 'done'> {
  return consider().catch((fault: unknown) => {
    if (isFault(fault, ['not_found'])) return withdraw(deps, of, issueId)
    throw fault
  })
}
