/** Reads reviews, comments and failed checks of a pull request, and records new ones on its task. */
import { LRUCache } from 'lru-cache'
import { atMost } from '#platform/atMost.ts'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import { keysOf } from '#domain/task/codeHost/feedbackState.ts'
import { feedbackLimits, type FeedbackRule } from '#domain/task/codeHost/feedbackRule.ts'
import { task } from '#domain/task/task.ts'
import { isOurs, rightOf } from './feedbackAuthors.ts'
import { readChecks } from './feedbackChecks.ts'
import { piecesOf, type Piece } from './feedbackParts.ts'
import {
  record,
  type FeedbackDeps,
  type Reader,
  type Reading,
  type ReadPullRequest,
} from './feedbackReading.ts'
import { redactionOf, withoutSecrets, type Redaction } from './feedbackRedaction.ts'
import type { ReadRequest } from '../pullRequests/readQueue.ts'

export interface FeedbackReader {
  /**
   * Reads the feedback, if the pull request has changed since the last reading. Returns in how many ms to read again because more may come; `null`
   * when nothing more is expected. Throws `CodeHostFault`, and other faults that prevent the reading.
   */
  read(request: ReadRequest, reading: ReadPullRequest): Promise<number | null>
  /** Called after a hint about this task's pull request. The next reading then takes place even if nothing seems to have changed. */
  forget(taskId: string): void
}

/** How long the permission of an account is cached. */
const rightsMs = 60_000
const remembered = 5_000
/** The minimum time between two readings of one pull request that are caused by hints. */
const hintedMs = 10_000

/** Makes a reader. After it has first seen a part of a review, it waits `gatherMs` for the other parts. */
export function feedbackReader(deps: FeedbackDeps, gatherMs: number): FeedbackReader {
  const reader: Reader = {
    ...deps,
    gatherMs,
    seen: new LRUCache(atMost(remembered)),
    rights: new LRUCache({ ...atMost(remembered), ttl: rightsMs }),
    waiting: new LRUCache({ ...atMost(remembered), ttl: 3_600_000 }),
    hints: new LRUCache(atMost(remembered)),
  }
  return {
    read: (request, pull) => read(reader, request, pull),
    forget: (taskId) => {
      const readAt = reader.hints.get(taskId)?.readAt ?? Number.NEGATIVE_INFINITY
      reader.hints.set(taskId, { isNew: true, readAt })
    },
  }
}

async function read(reader: Reader, request: ReadRequest, pull: ReadPullRequest): Promise<number | null> {
  const { taskId, access } = request
  const { seen } = reader
  const { state } = await reader.commands.load(task, taskStream(taskId))
  if (state.kind !== 'task' || pull.pullRequest.state !== 'open') return null
  if (state.pullRequest?.number !== request.number) return null
  if (state.feedback.items.size >= feedbackLimits.items) {
    if (seen.get(taskId) !== full)
      reader.logger.warn({ taskId }, 'a task has as much feedback as it may have, so no more is read')
    seen.set(taskId, full)
    return null
  }
  const rule = await ruleOf(reader, state.projectId)
  if (rule === null || (rule.reviews === 'off' && rule.checks === 'off')) return null
  const { updatedAt, headCommit, standing } = pull.pullRequest
  const now = JSON.stringify([updatedAt, headCommit, standing, rule])
  const leftMs = followHint(reader, taskId)
  if (leftMs > 0) return leftMs
  if (seen.get(taskId) === now) return null
  let redaction: Promise<Redaction> | undefined
  const reading: Reading = {
    request,
    token: await access.repositoryToken(),
    pull,
    rule,
    state,
    begunAt: performance.now(),
    redaction: () => (redaction ??= redactionOf(reader, state.projectId)),
  }
  const again = soonest(
    rule.reviews === 'off' ? null : await readWords(reader, reading),
    rule.checks === 'off' ? null : await readChecks(reader, reading),
  )
  // The code host's times have a resolution of one second, so a later change within the same second would go unnoticed. A pull request that changed
  // just now is therefore read again.
  const age = reader.clock.now().getTime() - Date.parse(updatedAt)
  const isFresh = age < freshMs && age > -freshMs
  if (again === null && !isFresh) seen.set(taskId, now)
  return again ?? (isFresh ? freshMs : null)
}

const freshMs = 3_000
/** Stands in `seen` for the state of a pull request whose task takes no more feedback. */
const full = 'full'

/**
 * After a new hint, forgets the state that the last reading has seen, so that everything is read again, and returns 0. If a hint has caused such a
 * reading less than `hintedMs` ago, forgets nothing and returns how many ms are left to wait. Returns 0 without a new hint.
 */
function followHint({ hints, seen }: Reader, taskId: string): number {
  const hint = hints.get(taskId)
  if (!hint?.isNew) return 0
  const leftMs = hint.readAt + hintedMs - performance.now()
  if (leftMs > 0) return leftMs
  hints.set(taskId, { isNew: false, readAt: performance.now() })
  seen.delete(taskId)
  return 0
}

const soonest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

async function ruleOf({ commands }: Reader, projectId: string): Promise<FeedbackRule | null> {
  const { state } = await commands.load(projectDecider, projectStream(projectId))
  return state.kind === 'project' ? state.feedback : null
}

async function readWords(reader: Reader, reading: Reading): Promise<number | null> {
  const { request, token, pull, state } = reading
  const { number } = request
  const { known } = state.feedback
  const found = await reader.codeHost.pullRequestFeedback(token, pull.repository, number)
  const shown = await withoutSecrets(found, (key) => known.has(key), reading.redaction)
  const pieces = piecesOf(shown, { number, headCommit: pull.pullRequest.headCommit }, known)
  let again: number | null = null
  for (const piece of pieces) {
    if (keysOf(piece.content).every((key) => known.has(key))) continue
    const left = awaited(reader, request.taskId, piece)
    if (left > 0) again = Math.max(again ?? 0, left)
    else await recordPiece(reader, reading, piece)
  }
  return again
}

/** How many ms to wait for the rest of a review. Counts from when we first saw a part of it, because clocks of others differ from ours. */
function awaited({ waiting, gatherMs }: Reader, taskId: string, { kind, content }: Piece): number {
  if (kind !== 'review') return 0
  const key = `${taskId} ${content.reviewId ?? keysOf(content).join(' ')}`
  const now = performance.now()
  const since = waiting.get(key) ?? now
  waiting.set(key, since)
  return Math.max(0, since + gatherMs - now)
}

async function recordPiece(reader: Reader, reading: Reading, piece: Piece): Promise<void> {
  const { author, kind, verdict, content } = piece
  const right = author === null ? 'none' : await rightOf(reader, reading, author)
  const isKnown = author !== null && (await isOurs(reader, author.id))
  const data = { kind, right, isKnown, verdict }
  await record(reader, reading, { data, content, mode: reading.rule.reviews })
}
