/** Issues that wait: those that were taken and are no tasks yet, and those that were passed over for now. */
import { Fault } from '#domain/kernel/errors.ts'
import { isLimit, mayPassAway } from '#domain/project/issueRule.ts'
import { hasRoom, isUnwanted, unsettledOf } from '#domain/project/issues.ts'
import { isFault } from './faults.ts'
import type { Memory } from './memory.ts'
import { considerIssue, resumeIssue, withdraw, type IssueReadingDeps, type ReadingOf } from './reading.ts'

/** Issues of one project in one round, and of those that wait for something else than a limit. */
export const issuesMost = 30
const passingMost = 3

/**
 * Goes on with issues that were taken: all where their owner has room, and some now and then where they have none, or who asked has to sign in
 * first. Answers whether one waits still.
 */
export async function resumeTaken(
  deps: IssueReadingDeps,
  memory: Memory,
  of: ReadingOf,
  passingMs: number,
): Promise<boolean> {
  const taken = unsettledOf(of.issues).filter((one) => !isUnwanted(of.issues, one))
  if (taken.length === 0) return false
  // Asked here, so that those that wait for room cost no requests.
  const isFull = !(await hasRoomFor(deps, of.document.owner))
  if (memory.isFull && !isFull) for (const { taskId } of taken) memory.askedAt.delete(taskId)
  memory.isFull = isFull
  const due = taken.filter(({ taskId }) => isDue(memory, taskId, passingMs))
  let isLater = due.length < taken.length
  for (const one of due.slice(0, isFull ? passingMost : issuesMost)) {
    const outcome = await resumeIssue(deps, of, one)
    if (outcome === 'done') continue
    isLater = true
    memory.askedAt.set(one.taskId, performance.now())
    if (outcome !== 'full') continue
    memory.isFull = true
    if (!isFull) break
  }
  return isLater
}

const isDue = ({ askedAt }: Memory, id: string, passingMs: number): boolean =>
  performance.now() - (askedAt.get(id) ?? Number.NEGATIVE_INFINITY) >= passingMs

async function hasRoomFor({ admission }: IssueReadingDeps, ownerId: string): Promise<boolean> {
  try {
    const release = await admission.admit(ownerId)
    release(null)
    return true
  } catch (fault) {
    if (fault instanceof Fault && fault.code === 'too_many_tasks') return false
    throw fault
  }
}

/** Reads issues again that wait: for a limit once there is room, for something else now and then. Answers whether a task could not be made yet. */
export async function readWaiting(
  deps: IssueReadingDeps,
  memory: Memory,
  of: ReadingOf,
  passingMs: number,
): Promise<boolean> {
  const { issues } = of
  const passed = [...issues.passed]
  const limited = hasRoom(issues, deps.clock.now().toISOString())
    ? passed.filter(([, { reason }]) => isLimit(reason)).slice(0, issuesMost)
    : []
  const others = passed
    .filter(([id, { reason }]) => mayPassAway(reason) && isDue(memory, id, passingMs))
    .slice(0, passingMost)
  let isLater = false
  let isFull = false
  for (const [id, { reason, words }] of [...others, ...limited]) {
    if (isFull && isLimit(reason)) break
    memory.askedAt.set(id, performance.now())
    const outcome = await unlessGone(deps, of, id, async () => {
      const found = await deps.codeHost.issue(of.token, of.repository, words.number)
      // Its number leads to where it was moved.
      return found.id === id ? considerIssue(deps, of, found) : withdraw(deps, of, id)
    })
    isLater ||= outcome === 'later'
    isFull ||= outcome === 'waits'
  }
  return isLater
}

/** One that was deleted or moved after it was listed holds up none of the others. */
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
