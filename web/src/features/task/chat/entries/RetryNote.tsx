/** A note that a turn waits for its model: why, when it asks again, and a countdown. */
import { retrySentence } from '#domain/task/modelRetry.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { clockTime, elapsed } from '../../../../ui/text/clock.ts'
import { useTaskSeconds } from '../../replayed.ts'
import { texts } from '../texts.ts'

export function RetryNote({ retry }: { readonly retry: NonNullable<MessageDocument['modelRetry']> }) {
  const left = Date.parse(retry.retryAt) - useTaskSeconds()
  return (
    <p className="text-muted">
      {retrySentence(retry.code, clockTime(retry.retryAt))}
      {left > 0 && <span className="text-meta"> {texts.chat.retryIn(elapsed(left))}</span>}
    </p>
  )
}
