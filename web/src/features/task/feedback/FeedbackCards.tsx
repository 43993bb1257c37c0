/** Feedback on the pull request: the status of reviews and checks, and a card for each review, comment and failed check. */
import { useEffect } from 'react'
import { useSelector, useDispatch } from 'react-redux'
import type { ShownFeedback } from '#domain/api/feedback.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { selectLive } from '../../../live/connection.ts'
import { reasonOf } from '../../../api/fault.ts'
import { isPullRequestOver } from '../../tasks/PullRequestLink.tsx'
import { FailureNote } from '../FailureNote.tsx'
import { CleanUp } from './CleanUp.tsx'
import { FeedbackCard } from './FeedbackCard.tsx'
import { useFeedbackQuery, useSetPullRequestDraftMutation } from './feedbackApi.ts'
import { texts } from './texts.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { safeLink } from '../../../ui/text/safeLink.ts'
import { notifiedFailure } from '../../notifications/notifications.ts'
import { taskLoaded } from '../taskSlice.ts'

export function FeedbackCards({ task }: { readonly task: Task }) {
  const { data, error, refetch, isFetching } = useFeedbackQuery(task.id)
  const live = useSelector(selectLive)
  // Events that happened while the connection was lost were not received, so the feedback is read again.
  useEffect(() => {
    if (live) void refetch()
  }, [live, refetch])
  // The page gets a new head commit earlier than the feedback on it, so a check may be about an older commit.
  const head = task.pullRequest?.standing?.headCommit ?? null
  const href = safeLink(task.prUrl)
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
      {data?.more === true && (
        <p className="text-meta text-muted">
          {texts.notAll}{' '}
          {href !== null && (
            <a href={href} target="_blank" rel="noreferrer" className="text-accent hover:underline">
              {texts.allOnGitHub}
            </a>
          )}
        </p>
      )}
      {data?.feedback.map((one) => (
        <FeedbackCard key={one.id} taskId={task.id} feedback={{ ...one, isStale: isStale(one) }} />
      ))}
    </section>
  )
}

const colours = {
  approved: 'text-ok',
  changes_requested: 'text-bad',
  required: 'text-warn',
  passing: 'text-ok',
  failing: 'text-bad',
  pending: 'text-warn',
} as const

/** The status of the pull request's reviews and checks, and the button to switch between draft and ready. */
function Standing({ task }: { readonly task: Task }) {
  const dispatch = useDispatch()
  const [setDraft, { isLoading, isError }] = useSetPullRequestDraftMutation()
  const { pullRequest } = task
  const state = pullRequest?.state
  const { review = null, checks = null, checksReadable = true } = pullRequest?.standing ?? {}
  const isOpen = state === 'open' || state === 'draft'
  const href = safeLink(task.prUrl)
  const change = async () => {
    const answer = await setDraft({ taskId: task.id, draft: state === 'open' })
    if (answer.error === undefined) dispatch(taskLoaded(answer.data.task))
    else dispatch(notifiedFailure(texts.notDrafted, answer.error))
  }
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-meta" role="status">
      {task.prNumber !== null && <span className="text-muted">#{task.prNumber}</span>}
      {review !== null && <span className={colours[review]}>{texts.reviews[review]}</span>}
      {checks !== null && <span className={colours[checks.state]}>{texts.checks[checks.state](checks)}</span>}
      {!checksReadable && <span className="text-muted">{texts.checksHidden}</span>}
      {isOpen && (
        <span className="ml-auto inline-flex items-center gap-3">
          {isError && href !== null && (
            <a href={href} target="_blank" rel="noreferrer" className="text-accent hover:underline">
              {texts.onGitHub}
            </a>
          )}
          <Button kind="ghost" size="touch" busy={isLoading} onClick={() => void change()}>
            {state === 'open' ? texts.makeDraft : texts.makeReady}
          </Button>
        </span>
      )}
    </div>
  )
}
