/** Shows what a call made of the task: the task itself, or a toast that the call failed. */
import { useDispatch } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import { notifiedFailure } from '../notifications/notifications.ts'
import { taskLoaded } from './taskSlice.ts'

interface Answer {
  readonly data?: { readonly task: Task } | undefined
  readonly error?: unknown
}

/** `failure`: the title of the toast. Returns whether the call succeeded. */
export function useShowTask(): (answer: Answer, failure: string) => boolean {
  const dispatch = useDispatch()
  return ({ data, error }, failure) => {
    dispatch(data === undefined ? notifiedFailure(failure, error) : taskLoaded(data.task))
    return data !== undefined
  }
}
