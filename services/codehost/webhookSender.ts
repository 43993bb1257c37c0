/** Sends a webhook to a single receiver for each event. Webhooks contain only the action, ids, numbers and commits, and are signed as on GitHub. */
import { createHmac, randomUUID } from 'node:crypto'
import { limitConcurrency } from '#platform/async/queue.ts'
import type { HostEvent } from './state/events.ts'

export interface Hook {
  readonly url: string
  /** The secret that signs webhooks; `null` for no signature. */
  readonly secret: string | null
}

const answerTimeoutMs = 10_000
const maxAtOnce = 16
const maxWaiting = 1_000

/** Makes the function that sends a webhook for an event. A webhook that fails is not sent again, because the receiver also polls. */
export function createHook({ url, secret }: Hook, log: (line: string) => void): (event: HostEvent) => void {
  const limited = limitConcurrency(maxAtOnce, (waiting) => {
    if (waiting >= maxWaiting) throw new Error('Too many deliveries wait.')
  })
  return (event) => {
    const body = JSON.stringify(payloadOf(event))
    const send = () =>
      fetch(url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'X-GitHub-Delivery': randomUUID(),
          'X-GitHub-Event': event.kind,
          ...(secret === null ? {} : { 'X-Hub-Signature-256': signatureOf(body, secret) }),
        },
        body,
        signal: AbortSignal.timeout(answerTimeoutMs),
      }).then((response) => response.body?.cancel())
    limited(send).catch((fault: unknown) => log(`a webhook was not sent: ${String(fault)}`))
  }
}

/** The signature of a body for the header `X-Hub-Signature-256`. */
export const signatureOf = (body: string, secret: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

function payloadOf(event: HostEvent): object {
  const { id, type } = event.sender
  return {
    ...('action' in event ? { action: event.action } : { after: event.after }),
    repository: { id: event.repository.id },
    sender: { id, type },
    ...('pull' in event
      ? { pull_request: { number: event.pull.number, head: { sha: event.pull.headSha } } }
      : {}),
    ...('issue' in event ? { issue: { number: event.issue.number } } : {}),
    ...('review' in event ? { review: { id: event.review.id } } : {}),
    ...('comment' in event ? { comment: { id: event.comment.id } } : {}),
    ...(event.kind === 'issue_comment' ? { issue: issueOf(event) } : {}),
  }
}

/** The field `issue` of a webhook about a comment. As on GitHub, a pull request counts as an issue that has the field `pull_request`. */
const issueOf = ({ comment, isPull }: Extract<HostEvent, { kind: 'issue_comment' }>): object => ({
  number: comment.number,
  ...(isPull ? { pull_request: {} } : {}),
})
