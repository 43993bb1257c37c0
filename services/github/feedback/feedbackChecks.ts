/** Reads the failed checks of a pull request, and records new ones. */
import { feedbackLimits } from '#domain/task/codeHost/feedbackRule.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { HostFailedCheck, HostLog } from '#platform/ports/codeHostFeedback.ts'
import { cut, record, type Reader, type Reading } from './feedbackReading.ts'

/** The maximum number of checks that one reading records, since each needs a few requests. */
const maxAtOnce = 10
const moreMs = 1_000
/** How long to wait for the log of a check, in ms after the check's end: while the log is `missing`, and while the code host is `unavailable`. */
const logWaits = { missing: 60_000, unavailable: 600_000 }
/** How many ms to wait between two attempts to read the log. */
const retryPauseMs = { missing: 15_000, unavailable: 60_000 }
const longest = { name: 200, path: 1_000, message: 2_000 }

/** Records new failed checks. Returns in how many ms to read again; `null` when nothing more is expected. Throws `CodeHostFault`. */
export async function readChecks(reader: Reader, reading: Reading): Promise<number | null> {
  const { token, pull, state } = reading
  const { headCommit, standing } = pull.pullRequest
  const mayFail = standing === undefined || (standing.checks?.failing ?? 0) > 0
  if (!mayFail) return null
  const failed = await orIfHidden(reader.codeHost.failedChecks(token, pull.repository, headCommit), [])
  const fresh = failed.filter(({ id }) => !state.feedback.known.has(`check ${id}`))
  let again: number | null = null
  for (const check of fresh.slice(0, maxAtOnce)) {
    const log = await logOf(reader, reading, check)
    if (log === 'missing' || log === 'unavailable') again = Math.min(again ?? Infinity, retryPauseMs[log])
    else await recordCheck(reader, reading, check, log)
  }
  return again ?? (fresh.length > maxAtOnce ? moreMs : null)
}

async function recordCheck(
  reader: Reader,
  reading: Reading,
  check: HostFailedCheck,
  log: HostLog | null,
): Promise<void> {
  const { request, token, pull, rule } = reading
  const redaction = await reading.redaction()
  const annotations = check.hasAnnotations
    ? await orIfHidden(reader.codeHost.checkAnnotations(token, pull.repository, check.id), [])
    : []
  const content = {
    number: request.number,
    writtenAt: check.endedAt,
    author: null,
    url: check.url,
    headCommit: pull.pullRequest.headCommit,
    reviewId: null,
    commentId: null,
    body: '',
    comments: [],
    check: {
      id: check.id,
      name: redaction.text(check.name).slice(0, longest.name),
      conclusion: check.conclusion,
      summary: cut(redaction.text(check.summary), feedbackLimits.body),
      annotations: annotations.slice(0, feedbackLimits.annotations).map((one) => ({
        ...one,
        path: redaction.text(one.path).slice(0, longest.path),
        message: cut(redaction.text(one.message), longest.message),
      })),
      log: log?.text ?? null,
      isLogCut: log?.isCut ?? false,
    },
  }
  const data = {
    kind: 'check',
    right: null,
    isKnown: false,
    verdict: null,
  } as const
  await record(reader, reading, { data, content, mode: rule.checks })
}

/**
 * The last part of a check's log; `null` when the check has no log; `missing` or `unavailable` when it may have one later. Throws `CodeHostFault`.
 */
async function logOf(
  { codeHost, clock, logger }: Reader,
  { token, pull, request: { taskId }, redaction }: Reading,
  { jobId, endedAt }: HostFailedCheck,
): Promise<HostLog | null | 'missing' | 'unavailable'> {
  if (jobId === null) return null
  const age = Math.abs(clock.now().getTime() - Date.parse(endedAt))
  const { text } = await redaction()
  try {
    const found = await codeHost.jobLog(token, pull.repository, jobId, text)
    return found ?? (age < logWaits.missing ? 'missing' : null)
  } catch (fault) {
    // A log that is too long is treated like a log that does not exist.
    const kind = fault instanceof RangeError ? null : fault instanceof CodeHostFault ? fault.kind : undefined
    if (kind === undefined || kind === 'rate_limited' || kind === 'unauthorized') throw fault
    logger.warn({ err: fault, taskId }, 'failed to read the log of a check')
    return kind === 'unavailable' && age < logWaits.unavailable ? kind : null
  }
}

/** The code host's answer, or `otherwise` if it does not reveal the resource to this token. */
async function orIfHidden<Answer>(asked: Promise<Answer>, otherwise: Answer): Promise<Answer> {
  try {
    return await asked
  } catch (fault) {
    if (fault instanceof CodeHostFault && ['not_found', 'forbidden', 'invalid'].includes(fault.kind))
      return otherwise
    throw fault
  }
}
