/** The status of the pull request's reviews and checks, and the button to switch between draft and ready. */
import { useDispatch } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { safeLink } from '../../../ui/text/safeLink.ts'
import { notifiedFailure } from '../../notifications/notifications.ts'
import { taskLoaded } from '../taskSlice.ts'
import { useSetPullRequestDraftMutation } from './feedbackApi.ts'
import { texts } from './texts.ts'

const colours = {
  approved: 'text-ok',
  changes_requested: 'text-bad',
  required: 'text-warn',
  passing: 'text-ok',
  failing: 'text-bad',
  pending: 'text-warn',
} as const

export function Standing({ task }: { readonly task: Task }) {
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
