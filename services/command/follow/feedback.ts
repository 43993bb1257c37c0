/** Reads what came back on a pull request - reviews, comments, failed checks - and records what is new on its task. */
import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { identity } from '#domain/identity.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { identityStream, projectStream, taskStream, userStream } from '#domain/kernel/streams.ts'
import { project } from '#domain/project/project.ts'
import type { CommandOf } from '#domain/task/commands.ts'
import type { TaskEvent } from '#domain/task/events.ts'
import { keysOf } from '#domain/task/feedbackState.ts'
import type { RepositoryRight } from '#domain/task/feedbackEvents.ts'
import { feedbackLimits, type FeedbackRule } from '#domain/task/feedbackRule.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task } from '#domain/task/task.ts'
import { user } from '#domain/user/user.ts'
import { idOfAccount } from '#platform/access/accountId.ts'
import type { Admit, Commands } from '#platform/commands/execute.ts'
import type { ProjectSecrets } from '#platform/credentials/projectSecrets.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import type { Vault } from '#platform/ports/vault.ts'
import type { Clock } from '#platform/ports/clock.ts'
import {
  CodeHostFault,
  type CodeHost,
  type PullRequestReading,
  type RepositoryName,
} from '#platform/ports/codeHost.ts'
import type { HostFailedCheck } from '#platform/ports/codeHostFeedback.ts'
import { soughtFor, textWithout } from '#platform/redaction/scan.ts'
import type { Admission } from '../admission.ts'
import { piecesOf, type Piece } from './feedbackParts.ts'
import type { Wanted } from './readQueue.ts'

export interface FeedbackDeps {
  readonly codeHost: Pick<
    CodeHost,
    'pullRequestFeedback' | 'repositoryRight' | 'failedChecks' | 'checkAnnotations' | 'jobLog'
  >
  readonly commands: Pick<Commands, 'execute' | 'load'>
  readonly projectSecrets: Pick<ProjectSecrets, 'valuesOf'>
  readonly admission: Admission
  readonly vault: Pick<Vault, 'deriveKey'>
  /** The code host whose accounts these are. */
  readonly codeHostName: string
  readonly clock: Clock
  readonly logger: Logger
}

/** How a pull request was read just now. */
export type ReadPullRequest = Extract<PullRequestReading, { kind: 'read' }>

export interface FeedbackReader {
  /**
   * Reads what came back, where the pull request has changed since it was read last. Answers in how many ms it should be read again, as
   * more may still come; `null` when nothing is awaited. Throws `CodeHostFault`.
   */
  read(wanted: Wanted, reading: ReadPullRequest): Promise<number | null>
  /** Something was hinted at on the pull request of this task: it is read next time whether it seems to have changed or not. */
  forget(taskId: string): void
}

const actor = { kind: 'system', service: 'follower' } as const
/** How long a right is believed. */
const rightsMs = 60_000
const remembered = 5_000

interface Reader extends FeedbackDeps {
  /** How long a review is awaited to be whole, in ms. */
  readonly gatherMs: number
  /** By task: as it was when everything on it was read. */
  readonly seen: LRUCache<string, string>
  readonly rights: LRUCache<string, RepositoryRight>
  /** When a piece that waits was first seen. */
  readonly waiting: LRUCache<string, number>
}

interface Reading {
  readonly wanted: Wanted
  readonly repository: RepositoryName
  readonly token: string
  readonly pull: ReadPullRequest
  readonly rule: FeedbackRule
  readonly state: LiveTask
}

/** A review and its comments are gathered for `gatherMs`. */
export function feedbackReader(deps: FeedbackDeps, gatherMs: number): FeedbackReader {
  const reader: Reader = {
    ...deps,
    gatherMs,
    seen: new LRUCache({ max: remembered }),
    rights: new LRUCache({ max: remembered, ttl: rightsMs }),
    waiting: new LRUCache({ max: remembered, ttl: 3_600_000 }),
  }
  return {
    read: (wanted, pull) => read(reader, wanted, pull),
    forget: (taskId) => void reader.seen.delete(taskId),
  }
}

async function read(reader: Reader, wanted: Wanted, pull: ReadPullRequest): Promise<number | null> {
  const { taskId, repositoryName: repository, access } = wanted
  const { seen } = reader
  const { state } = await reader.commands.load(task, taskStream(taskId))
  if (state.kind !== 'task' || repository === null || pull.pullRequest.state !== 'open') return null
  const rule = await ruleOf(reader, state.projectId)
  if (rule === null || (rule.reviews === 'off' && rule.checks === 'off')) return null
  const { updatedAt, headCommit, standing } = pull.pullRequest
  const now = JSON.stringify([updatedAt, headCommit, standing, rule])
  if (seen.get(taskId) === now) return null
  const reading = { wanted, repository, token: await access.token(), pull, rule, state }
  const again = rule.reviews === 'off' ? null : await readWords(reader, reading)
  if (rule.checks !== 'off') await readChecks(reader, reading)
  // The code host's times have seconds: what is written within this one would look as if nothing had changed.
  const age = reader.clock.now().getTime() - Date.parse(updatedAt)
  const isFresh = age < freshMs && age > -freshMs
  if (again === null && !isFresh) seen.set(taskId, now)
  return again ?? (isFresh ? freshMs : null)
}

const freshMs = 3_000

async function ruleOf({ commands }: Reader, projectId: string): Promise<FeedbackRule | null> {
  const { state } = await commands.load(project, projectStream(projectId))
  return state.kind === 'project' ? state.feedback : null
}

async function readWords(reader: Reader, reading: Reading): Promise<number | null> {
  const { wanted, repository, token, pull, state } = reading
  const { number } = wanted
  const found = await reader.codeHost.pullRequestFeedback(token, repository, number)
  const pieces = piecesOf(found, { number, headCommit: pull.pullRequest.headCommit })
  let again: number | null = null
  for (const piece of pieces) {
    if (keysOf(piece.content).every((key) => state.feedback.known.has(key))) continue
    const left = awaited(reader, wanted.taskId, piece)
    if (left > 0) again = Math.max(again ?? 0, left)
    else await recordPiece(reader, reading, piece)
  }
  return again
}

/** How long a review is still awaited to be whole, in ms from when we saw it first: the clocks of others are not ours. */
function awaited({ waiting, gatherMs }: Reader, taskId: string, { kind, content }: Piece): number {
  if (kind !== 'review') return 0
  const key = `${taskId} ${content.reviewId ?? keysOf(content).join(' ')}`
  const now = performance.now()
  const since = waiting.get(key) ?? now
  waiting.set(key, since)
  return Math.max(0, since + gatherMs - now)
}

async function recordPiece(reader: Reader, reading: Reading, piece: Piece): Promise<void> {
  const { author, kind, verdict, writtenAt, content } = piece
  const right = author === null ? 'none' : await rightOf(reader, reading, author.login)
  const isKnown = author !== null && (await isOurs(reader, author.id))
  const data = { kind, right, isKnown, verdict, writtenAt }
  await record(reader, reading, { data, content, mode: reading.rule.reviews })
}

/** `none` where the code host does not say. */
async function rightOf(
  { rights, codeHost, logger }: Reader,
  { repository, token, wanted }: Reading,
  login: string,
): Promise<RepositoryRight> {
  const key = `${wanted.repository} ${login.toLowerCase()}`
  const known = rights.get(key)
  if (known !== undefined) return known
  try {
    const right = await codeHost.repositoryRight(token, repository, login)
    rights.set(key, right)
    return right
  } catch (fault) {
    if (!(fault instanceof CodeHostFault)) throw fault
    logger.warn({ err: fault }, 'failed to read what an author may do in a repository')
    return 'none'
  }
}

/** Whether the account is that of somebody who has an account here. */
async function isOurs({ commands, vault, codeHostName }: Reader, githubId: string): Promise<boolean> {
  const id = idOfAccount(vault, codeHostName, githubId)
  const { userId } = (await commands.load(identity, identityStream(id))).state
  return userId !== null && (await commands.load(user, userStream(userId))).state.kind === 'user'
}

async function readChecks(reader: Reader, reading: Reading): Promise<void> {
  const { repository, token, pull, state } = reading
  const { headCommit, standing } = pull.pullRequest
  const mayFail = standing === undefined || (standing.checks?.failing ?? 0) > 0
  if (!mayFail) return
  const failed = await hidden(reader.codeHost.failedChecks(token, repository, headCommit), [])
  for (const check of failed) {
    if (state.feedback.known.has(`check ${check.id}`)) continue
    await recordCheck(reader, reading, check)
  }
}

async function recordCheck(reader: Reader, reading: Reading, check: HostFailedCheck): Promise<void> {
  const { codeHost } = reader
  const { wanted, repository, token, pull } = reading
  const redacted = await redactionOf(reader, reading.state.projectId)
  const annotations = await hidden(codeHost.checkAnnotations(token, repository, check.id), [])
  const log = check.jobId === null ? undefined : await logOf(reader, reading, check.jobId)
  const shown = await Promise.all(
    annotations
      .slice(0, feedbackLimits.annotations)
      .map(async (one) => ({ ...one, message: redacted(one.message) })),
  )
  const content = {
    number: wanted.number,
    author: null,
    url: check.url,
    headCommit: pull.pullRequest.headCommit,
    reviewId: null,
    commentId: null,
    body: '',
    comments: [],
    check: {
      id: check.id,
      name: check.name.slice(0, 200),
      conclusion: check.conclusion,
      summary: redacted(check.summary.slice(0, feedbackLimits.body)),
      annotations: shown,
      log: log === undefined ? null : redacted(log.text),
      isLogCut: log?.isCut ?? false,
    },
  }
  const data = {
    kind: 'check',
    right: null,
    isKnown: false,
    verdict: null,
    writtenAt: check.endedAt,
  } as const
  await record(reader, reading, { data, content, mode: reading.rule.checks })
}

async function logOf({ codeHost, logger }: Reader, { token, repository }: Reading, jobId: string) {
  try {
    return await codeHost.jobLog(token, repository, jobId)
  } catch (fault) {
    if (fault instanceof CodeHostFault && fault.kind === 'rate_limited') throw fault
    logger.warn({ err: fault }, 'failed to read the log of a check')
    return undefined
  }
}

/** The project's secrets and the shapes of tokens are in nothing that is recorded. A text of the allowed length takes milliseconds. */
async function redactionOf(
  { commands, projectSecrets }: Reader,
  projectId: string,
): Promise<(text: string) => string> {
  const { state } = await commands.load(project, projectStream(projectId))
  const names = state.kind === 'project' ? [...state.secrets.keys()] : []
  const sought = soughtFor([...(await projectSecrets.valuesOf(projectId, names)).values()])
  return (text) => textWithout(sought, text)
}

/** What the host shows of it; `otherwise` where it shows this token nothing. */
async function hidden<Answer>(asked: Promise<Answer>, otherwise: Answer): Promise<Answer> {
  try {
    return await asked
  } catch (fault) {
    if (fault instanceof CodeHostFault && ['not_found', 'forbidden', 'invalid'].includes(fault.kind))
      return otherwise
    throw fault
  }
}

type Receive = CommandOf<'ReceiveFeedback'>

/** Records a piece, and starts the agent in the same append where the rule says so. A person without room for one more task is asked. */
async function record(
  { commands, admission, clock, logger }: Reader,
  { wanted: { taskId }, pull, rule, state }: Reading,
  { data, content, mode }: Pick<Receive, 'data' | 'content'> & { readonly mode: FeedbackRule['reviews'] },
): Promise<void> {
  const receive = async (automatic: Receive['automatic']) => {
    const command: Receive = { type: 'ReceiveFeedback', feedbackId: randomUUID(), data, content, automatic }
    const admit: Admit<TaskEvent> = async (events) =>
      events.some(({ type }) => type === 'ExecutionRequested')
        ? admission.admit(state.ownerId)
        : () => undefined
    await commands.execute(task, taskStream(taskId), command, { actor, commandId: randomUUID() }, admit)
  }
  const automatic =
    mode === 'automatic'
      ? {
          messageId: randomUUID(),
          executionId: randomUUID(),
          now: clock.now().toISOString(),
          isSameRepository: !pull.isFork,
          triesPerCommit: rule.triesPerCommit,
          triesPerDay: rule.triesPerDay,
        }
      : null
  try {
    await receive(automatic).catch(async (fault: unknown) => {
      if (!(fault instanceof Fault && fault.code === 'too_many_tasks')) throw fault
      await receive(null)
    })
  } catch (fault) {
    // A task that was deleted, or whose history cannot be read, holds up no other.
    if (!(fault instanceof Fault || fault instanceof UnreadableEvent)) throw fault
    if (!(fault instanceof Fault && fault.code === 'not_found'))
      logger.warn({ err: fault, taskId }, 'failed to record feedback on a pull request')
  }
}
