/** Feedback on the pull request: the status of reviews and checks, and a card for each review, comment and failed check. */
import { useEffect } from 'react'
import { useSelector } from 'react-redux'
import type { ShownFeedback } from '#domain/api/feedback.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { selectLive } from '../../../live/connection.ts'
import { reasonOf } from '../../../api/fault.ts'
import { isPullRequestOver } from '../../tasks/PullRequestLink.tsx'
import { FailureNote } from '../FailureNote.tsx'
import { CleanUp } from './CleanUp.tsx'
import { FeedbackCard } from './FeedbackCard.tsx'
import { useFeedbackQuery } from './feedbackApi.ts'
import { Standing } from './Standing.tsx'
import { texts } from './texts.ts'

export function FeedbackCards({ task }: { readonly task: Task }) {
  const { data, error, refetch, isFetching } = useFeedbackQuery(task.id)
  const live = useSelector(selectLive)
  // Events during a lost connection were not received.
  useEffect(() => {
    if (live) void refetch()
  }, [live, refetch])
  // The task shows a new head before the feedback does.
  const head = task.pullRequest?.standing?.headCommit ?? null
  const isStale = ({ kind, headCommit }: ShownFeedback) =>
    kind === 'check' && head !== null && head !== headCommit
  return (
    <section aria-label={texts.label} className="mx-4 mt-4 grid grid-cols-1 gap-3">
      <Standing task={task} />
      {isPullRequestOver(task) && <CleanUp task={task} />}
      {error !== undefined && (
        <FailureNote busy={isFetching} onRetry={() => void refetch()}>
          {reasonOf(error, texts.notFetched)}
        </FailureNote>
      )}
      {data?.feedback.map((one) => (
        <FeedbackCard key={one.id} taskId={task.id} feedback={{ ...one, isStale: isStale(one) }} />
      ))}
    </section>
  )
}
