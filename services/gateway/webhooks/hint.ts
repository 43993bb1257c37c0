/** What a delivery hints at: ids out of its payload. Whatever else a payload has or lacks does not matter. */
import { z } from 'zod'
import { DeliveryReceived, deliveredEvents, senderTypes } from '#domain/delivery.ts'

const id = z.int().nonnegative().transform(String).nullish().catch(null)
const number = z.int().positive().nullish().catch(null)
const commit = z
  .string()
  .regex(/^[0-9a-f]{40,64}$/)
  .nullish()
  .catch(null)
const WithId = z.object({ id }).nullish().catch(null)
const Checked = z.object({ id, head_sha: commit }).nullish().catch(null)

const Payload = z.object({
  action: z
    .string()
    .regex(/^[a-z_]{1,64}$/)
    .nullish()
    .catch(null),
  installation: WithId,
  repository: WithId,
  pull_request: z
    .object({ number, head: z.object({ sha: commit }).nullish().catch(null) })
    .nullish()
    .catch(null),
  /** With `pull_request` where the issue is one. */
  issue: z.object({ number, pull_request: z.unknown().optional() }).nullish().catch(null),
  review: WithId,
  comment: WithId,
  check_run: Checked,
  check_suite: Checked,
  /** The commit of a status. */
  sha: commit,
  /** The head of a push. */
  after: commit,
  sender: z
    .object({ id, type: z.enum(senderTypes).nullish().catch(null) })
    .nullish()
    .catch(null),
})

const DeliveredEvent = z.enum(deliveredEvents)

/** `null` for events that lead to nothing. */
export function hintOf(guid: string, name: string, payload: unknown): DeliveryReceived | null {
  const event = DeliveredEvent.safeParse(name)
  const read = Payload.safeParse(payload)
  if (!event.success || !read.success) return null
  const { action, installation, repository, pull_request, issue, review, comment, sender } = read.data
  const { check_run, check_suite, sha, after } = read.data
  const isPullRequest = issue?.pull_request !== undefined && issue.pull_request !== null
  return DeliveryReceived.of(
    { guid, event: event.data, action: action ?? null, senderType: sender?.type ?? null },
    {
      installationId: installation?.id ?? null,
      repositoryId: repository?.id ?? null,
      pullRequest: pull_request?.number ?? (isPullRequest ? (issue?.number ?? null) : null),
      issue: isPullRequest ? null : (issue?.number ?? null),
      headCommit:
        pull_request?.head?.sha ?? check_run?.head_sha ?? check_suite?.head_sha ?? sha ?? after ?? null,
      reviewId: review?.id ?? null,
      commentId: comment?.id ?? null,
      checkRunId: check_run?.id ?? null,
      checkSuiteId: check_suite?.id ?? null,
      senderId: sender?.id ?? null,
    },
  )
}
