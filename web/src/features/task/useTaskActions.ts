/** What can be done with a task as a whole, and what is said of it. */
import { useDispatch } from 'react-redux'
import type { Task } from '#domain/api/tasks.ts'
import { reasonOf } from '../../api/fault.ts'
import { notified } from '../notifications/notifications.ts'
import { taskLoaded } from './openTask.ts'
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
  readonly updates: boolean
}

export function useTaskActions(task: Task): TaskActions {
  const dispatch = useDispatch()
  const [cancel, cancelling] = useCancelTaskMutation()
  const [retry, retrying] = useRetryTaskMutation()
  const [execute, executing] = useExecuteTaskMutation()
  const [createPullRequest, opening] = useCreatePullRequestMutation()
  const updates = task.prNumber !== null

  const onCancel = async () => {
    const answer = await cancel(task.id)
    if (answer.error === undefined) {
      dispatch(taskLoaded(answer.data.task))
      dispatch(notified('warning', texts.toasts.cancelled))
    } else {
      dispatch(notified('error', texts.toasts.notCancelled, why(answer.error, texts.toasts.notCancelled)))
    }
  }
  const onRetry = async () => {
    const answer = await retry(task.id)
    if (answer.error === undefined) dispatch(taskLoaded(answer.data.task))
    else dispatch(notified('error', texts.toasts.notRetried, why(answer.error, texts.toasts.notRetried)))
  }
  const onStart = async () => {
    const answer = await execute(task.id)
    if (answer.error === undefined) dispatch(taskLoaded(answer.data.task))
    else
      dispatch(notified('error', texts.toasts.commandFailed, why(answer.error, texts.toasts.commandFailed)))
  }
  const onPullRequest = async (body: PullRequestAsked) => {
    const answer = await createPullRequest({ taskId: task.id, update: updates, body })
    if (answer.error === undefined) {
      dispatch(taskLoaded(answer.data.task))
      const title = updates ? texts.toasts.prUpdated : texts.toasts.prCreated
      dispatch(notified('success', title, texts.header.pullRequest(answer.data.pr.number)))
    } else {
      const title = updates ? texts.toasts.prNotUpdated : texts.toasts.prNotCreated
      dispatch(notified('error', title, why(answer.error, title)))
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
    updates,
  }
}

/** The reason, unless the title says it already. */
function why(error: unknown, title: string): string | undefined {
  const reason = reasonOf(error, title)
  return reason === title ? undefined : reason
}
