/** Lists the files that an undo changes, and asks for confirmation. */
import { useDispatch } from 'react-redux'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { previewUndo } from '#domain/api/fork.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { reasonOf } from '../../../api/fault.ts'
import { ConfirmDialog } from '../../../ui/overlay/ConfirmDialog.tsx'
import { useUndoPreviewQuery, type TurnOfTask, useUndoTurnMutation } from './forkApi.ts'
import { texts } from './texts.ts'
import { notified } from '../../notifications/notifications.ts'

interface UndoDialogProps extends TurnOfTask {
  readonly onClose: () => void
  readonly onUndone: (task: Task) => void
}

export function UndoDialog({ taskId, executionId, onClose, onUndone }: UndoDialogProps) {
  const turn = { taskId, executionId }
  const { data, error } = useUndoPreviewQuery(turn, { refetchOnMountOrArgChange: true })
  const { undo, undoing, refusal } = useUndo(texts.undo.done, onUndone)
  const confirm = async () => {
    if ((await undo(turn)) === undefined) onClose()
  }
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={texts.undo.title}
      leave={texts.undo.leave}
      confirm={texts.undo.confirm}
      isDangerous
      busy={undoing}
      error={refusal && reasonOf(refusal, texts.undo.failed)}
      disabled={data === undefined}
      onConfirm={() => void confirm()}
    >
      <p>{texts.undo.why(Math.max(1, data?.undone.length ?? 1))}</p>
      <div className="mt-3 text-ui text-text" role="status">
        {error !== undefined && (
          <p role="alert" className="text-bad">
            {reasonOf(error, texts.undo.failed)}
          </p>
        )}
        {data === undefined && error === undefined && texts.undo.loading}
        {data !== undefined && <ChangedFiles preview={data} />}
      </div>
    </ConfirmDialog>
  )
}

type Preview = AnswerOf<typeof previewUndo>

function ChangedFiles({ preview: { files, total, kept, compared } }: { readonly preview: Preview }) {
  if (!compared) return <p>{texts.undo.notCompared}</p>
  return (
    <>
      <p className="font-medium">{total === 0 ? texts.undo.noFiles : texts.undo.files(total)}</p>
      {files.length > 0 && (
        // A scrollable list must be reachable by keyboard.
        <ul
          tabIndex={0}
          aria-label={texts.undo.files(total)}
          className="mt-1.5 max-h-60 overflow-y-auto rounded-control border border-line px-2.5 py-1.5"
        >
          {files.map(({ path, change }) => (
            <li key={path} className="flex gap-2 text-meta/5">
              <span className="min-w-0 flex-1 truncate mono" title={path}>
                {path}
              </span>
              <span className="flex-none text-muted">{texts.undo.change[change]}</span>
            </li>
          ))}
        </ul>
      )}
      {kept.length > 0 && <p className="mt-2 text-meta text-muted">{texts.undo.kept(kept.length)}</p>}
    </>
  )
}

/** Undoes a turn, or an undo, and tells that it succeeded. `undo` resolves to why it was refused, which the caller tells. */
export function useUndo(done: string, onUndone: (task: Task) => void) {
  const dispatch = useDispatch()
  const [undoTurn, { isLoading, error }] = useUndoTurnMutation()
  const undo = async (turn: TurnOfTask) => {
    const answer = await undoTurn(turn)
    if (answer.error !== undefined) return answer.error
    onUndone(answer.data.task)
    dispatch(notified('success', done, answer.data.restored ? undefined : texts.undo.later))
    return undefined
  }
  return { undo, undoing: isLoading, refusal: error }
}
