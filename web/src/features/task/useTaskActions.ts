/** The actions on a whole task. A toast reports each failure, and the success of cancelling and of a pull request. */
import { useDispatch } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import { isFault, reasonOf, retryAtOf } from '../../api/fault.ts'
import { notified, notifiedFailure } from '../notifications/notifications.ts'
import { isPullRequestOver } from '../tasks/PullRequestLink.tsx'
import { heldWithdrawals } from './chat/queue/heldWithdrawals.ts'
import { taskLoaded } from './taskSlice.ts'
import {
  useCancelTaskMutation,
  useCreatePullRequestMutation,
  useExecuteTaskMutation,
  useRetryTaskMutation,
  type PullRequestInput,
} from './taskApi.ts'
import { texts } from './texts.ts'

export function useTaskActions(task: Task) {
  const dispatch = useDispatch()
  const showTask = useShowTask()
  const [cancel, cancelling] = useCancelTaskMutation()
  const [retry, retrying] = useRetryTaskMutation()
  const [execute, executing] = useExecuteTaskMutation()
  const [createPullRequest, opening] = useCreatePullRequestMutation()
  const opensNew = isPullRequestOver(task)
  const updates = task.prNumber !== null && !opensNew

  const onCancel = async () => {
    const isCancelled = showTask(await cancel(task.id), texts.toasts.notCancelled)
    if (isCancelled) dispatch(notified('warning', texts.toasts.cancelled))
  }
  const onRetry = async () => {
    await heldWithdrawals.send?.()
    showTask(await retry(task.id), texts.toasts.notRetried)
  }
  const onStart = async () => {
    await heldWithdrawals.send?.()
    showTask(await execute(task.id), texts.toasts.commandFailed)
  }
  const onPullRequest = async (body: PullRequestInput) => {
    const answer = await createPullRequest({
      taskId: task.id,
      update: updates,
      body: opensNew ? { ...body, openNew: true } : body,
    })
    if (answer.error === undefined) {
      dispatch(taskLoaded(answer.data.task))
      const title = updates ? texts.toasts.prUpdated : texts.toasts.prCreated
      dispatch(notified('success', title, texts.header.pullRequest(answer.data.pr.number)))
    } else if (isFault(answer.error, 'changes_moved')) {
      // The page is about to receive the new changes, so this is only a warning.
      dispatch(notified('warning', texts.toasts.prMoved, reasonOf(answer.error, texts.toasts.prNotCreated)))
    } else {
      const title = updates ? texts.toasts.prNotUpdated : texts.toasts.prNotCreated
      dispatch(notifiedFailure(title, answer.error))
    }
    return answer
  }

  return {
    cancel: () => void onCancel(),
    cancelling: cancelling.isLoading || task.execution?.cancelRequested === true,
    /** Starts a turn with the waiting messages. */
    start: () => void onStart(),
    starting: executing.isLoading,
    retry: () => void onRetry(),
    retrying: retrying.isLoading,
    openPullRequest: onPullRequest,
    opening: opening.isLoading || task.pullRequestPending,
    /** When the code host allows another attempt, in ms since the epoch; `null` when it allows one now. */
    waitsUntil: retryAtOf(opening.error),
    /** The reason why the last request for a pull request failed; `null` if it did not fail or there was none. */
    refused: opening.error === undefined ? null : reasonOf(opening.error, texts.toasts.prNotCreated),
    updates,
    /** Whether the existing pull request is merged or closed, so that the next request opens a new one. */
    opensNew,
  }
}

interface Answer {
  readonly data?: { readonly task: Task } | undefined
  readonly error?: unknown
}

/** Shows the task that a call answered with, or a toast with the title `failure`. Returns whether the call succeeded. */
export function useShowTask(): (answer: Answer, failure: string) => boolean {
  const dispatch = useDispatch()
  return ({ data, error }, failure) => {
    dispatch(data === undefined ? notifiedFailure(failure, error) : taskLoaded(data.task))
    return data !== undefined
  }
}
