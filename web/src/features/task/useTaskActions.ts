/** What can be done with a task as a whole, and what is said of it. */
import { useDispatch } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import { isFault, reasonOf, retryAtOf } from '../../api/fault.ts'
import { notified, notifiedFailure } from '../notifications/notifications.ts'
import { isPullRequestOver } from '../tasks/PullRequestLink.tsx'
import { taskLoaded } from './taskSlice.ts'
import {
  useCancelTaskMutation,
  useCreatePullRequestMutation,
  useExecuteTaskMutation,
  useRetryTaskMutation,
  type PullRequestAsked,
} from './taskApi.ts'
import { texts } from './texts.ts'

interface TaskActions {
  readonly cancel: () => void
  readonly cancelling: boolean
  /** Begins with the messages that wait. */
  readonly start: () => void
  readonly starting: boolean
  readonly retry: () => void
  readonly retrying: boolean
  /** Opens a pull request, or updates the one there is. */
  readonly openPullRequest: (asked: PullRequestAsked) => void
  readonly opening: boolean
  /** Until when the code host asked to wait with that, in ms since the epoch; `null` where it did not. */
  readonly waitsUntil: number | null
  /** Why the last request for a pull request came to nothing. */
  readonly refused: string | null
  readonly updates: boolean
  /** The pull request there is takes no more work: the next is another one. */
  readonly opensNew: boolean
}

export function useTaskActions(task: Task): TaskActions {
  const dispatch = useDispatch()
  const [cancel, cancelling] = useCancelTaskMutation()
  const [retry, retrying] = useRetryTaskMutation()
  const [execute, executing] = useExecuteTaskMutation()
  const [createPullRequest, opening] = useCreatePullRequestMutation()
  const opensNew = isPullRequestOver(task)
  const updates = task.prNumber !== null && !opensNew

  const onCancel = async () => {
    const answer = await cancel(task.id)
    if (answer.error === undefined) {
      dispatch(taskLoaded(answer.data.task))
      dispatch(notified('warning', texts.toasts.cancelled))
    } else {
      dispatch(notifiedFailure(texts.toasts.notCancelled, answer.error))
    }
  }
  const onRetry = async () => {
    const answer = await retry(task.id)
    if (answer.error === undefined) dispatch(taskLoaded(answer.data.task))
    else dispatch(notifiedFailure(texts.toasts.notRetried, answer.error))
  }
  const onStart = async () => {
    const answer = await execute(task.id)
    if (answer.error === undefined) dispatch(taskLoaded(answer.data.task))
    else dispatch(notifiedFailure(texts.toasts.commandFailed, answer.error))
  }
  const onPullRequest = async (body: PullRequestAsked) => {
    const asked = opensNew ? { ...body, openNew: true } : body
    const answer = await createPullRequest({ taskId: task.id, update: updates, body: asked })
    if (answer.error === undefined) {
      dispatch(taskLoaded(answer.data.task))
      const title = updates ? texts.toasts.prUpdated : texts.toasts.prCreated
      dispatch(notified('success', title, texts.header.pullRequest(answer.data.pr.number)))
    } else if (isFault(answer.error, 'changes_moved')) {
      // The new ones are on their way to the page.
      dispatch(notified('warning', texts.toasts.prMoved, reasonOf(answer.error, texts.toasts.prNotCreated)))
    } else {
      const title = updates ? texts.toasts.prNotUpdated : texts.toasts.prNotCreated
      dispatch(notifiedFailure(title, answer.error))
    }
  }

  return {
    cancel: () => void onCancel(),
    cancelling: cancelling.isLoading || task.execution?.cancelRequested === true,
    start: () => void onStart(),
    starting: executing.isLoading,
    retry: () => void onRetry(),
    retrying: retrying.isLoading,
    openPullRequest: (asked) => void onPullRequest(asked),
    opening: opening.isLoading || task.pullRequestPending,
    waitsUntil: retryAtOf(opening.error),
    refused: opening.error === undefined ? null : reasonOf(opening.error, texts.toasts.prNotCreated),
    updates,
    opensNew,
  }
}
