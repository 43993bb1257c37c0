/** A note that turns were undone, with a button to restore them. */
import type { Task } from '#domain/api/tasks.schema.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import type { TurnOfTask } from './forkApi.ts'
import { texts } from './texts.ts'
import { useUndo } from './useUndo.ts'

export function UndoneNote({ onUndone, ...turn }: TurnOfTask & { readonly onUndone: (task: Task) => void }) {
  const { undo, undoing } = useUndo(texts.undo.isBack, onUndone)
  return (
    <Note
      kind="warning"
      className="mx-4 mt-4"
      action={
        <Button size="small" busy={undoing} onClick={() => void undo(turn)}>
          {texts.undo.back}
        </Button>
      }
    >
      {texts.undo.note}
    </Note>
  )
}
