/**
 * The dialogs to create a task from a turn and to undo a turn, and the note about undone turns: one chunk, loaded on demand. This file imports
 * nothing of the task page, because modules shared by two chunks are loaded by every page.
 */
import { useDispatch } from 'react-redux'
import type { AgentName } from '#domain/agents.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { ForkDialog } from './ForkDialog.tsx'
import { UndoDialog, useUndo } from './UndoDialog.tsx'
import { Button } from '../../../ui/form/Button.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { notifiedFailure } from '../../notifications/notifications.ts'
import type { TurnOfTask } from './forkApi.ts'
import { texts } from './texts.ts'

interface TurnDialogsProps {
  readonly shows: 'fork' | 'undo' | 'undone'
  readonly task: Task
  /** The id of the turn or, for `undone`, of the undo. */
  readonly executionId: string
  readonly agent: AgentName
  readonly onClose: () => void
  readonly onUndone: (task: Task) => void
}

export function TurnDialogs({ shows, task, executionId, agent, onClose, onUndone }: TurnDialogsProps) {
  const turn = { taskId: task.id, executionId }
  switch (shows) {
    case 'fork':
      return <ForkDialog {...turn} title={task.title} agent={agent} onClose={onClose} />
    case 'undo':
      return <UndoDialog {...turn} onClose={onClose} onUndone={onUndone} />
    case 'undone':
      return <UndoneNote {...turn} onUndone={onUndone} />
  }
}

/** A note that turns were undone, with a button to restore them. */
function UndoneNote({ onUndone, ...turn }: TurnOfTask & { readonly onUndone: (task: Task) => void }) {
  const dispatch = useDispatch()
  const { undo, undoing } = useUndo(texts.undo.isBack, onUndone)
  const redo = async () => {
    const refusal = await undo(turn)
    if (refusal !== undefined) dispatch(notifiedFailure(texts.undo.failed, refusal))
  }
  return (
    <Note
      kind="warning"
      className="mx-4 mt-4"
      action={
        <Button size="small" busy={undoing} onClick={() => void redo()}>
          {texts.undo.back}
        </Button>
      }
    >
      {texts.undo.note}
    </Note>
  )
}
