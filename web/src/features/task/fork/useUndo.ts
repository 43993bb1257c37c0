import { useDispatch } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import { notified, notifiedFailure } from '../../notifications/notifications.ts'
import { useUndoTurnMutation, type TurnOfTask } from './forkApi.ts'
import { texts } from './texts.ts'

/** `undo` resolves to whether it succeeded; the person is notified either way. */
export function useUndo(done: string, onUndone: (task: Task) => void) {
  const dispatch = useDispatch()
  const [undoTurn, { isLoading }] = useUndoTurnMutation()
  const undo = async (turn: TurnOfTask) => {
    const answer = await undoTurn(turn)
    if (answer.error !== undefined) {
      dispatch(notifiedFailure(texts.undo.failed, answer.error))
      return false
    }
    onUndone(answer.data.task)
    dispatch(notified('success', done, answer.data.restored ? undefined : texts.undo.later))
    return true
  }
  return { undo, undoing: isLoading }
}
