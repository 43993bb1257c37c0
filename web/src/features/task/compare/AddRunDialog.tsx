/** The dialog that starts another run of the same task: its agent, model and message. */
import { useState } from 'react'
import { limits } from '#domain/api/limits.ts'
import { useDispatch } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import { reasonOf } from '../../../api/fault.ts'
import { tooLong } from '../../../ui/form/lengthLimit.ts'
import { AreaField } from '../../../ui/form/Field.tsx'
import { ConfirmDialog } from '../../../ui/overlay/ConfirmDialog.tsx'
import { AgentPicker } from '../../agents/AgentPicker.tsx'
import { ModelPicker } from '../../agents/ModelPicker.tsx'
import { notified } from '../../notifications/notifications.ts'
import { useAddAlternativeMutation } from './compareApi.ts'
import { useAttemptId } from '../useAttemptId.ts'
import { texts } from './texts.ts'

const words = texts.dialog
const agentsOwn = { model: null, effort: null }

export function AddRunDialog({
  original,
  onClose,
}: {
  readonly original: Task
  readonly onClose: () => void
}) {
  const dispatch = useDispatch()
  const [agent, setAgent] = useState(original.agent)
  const [{ model, effort }, setModel] = useState<{ model: string | null; effort: string | null }>(agentsOwn)
  const [message, setMessage] = useState(original.description)
  const [add, { isLoading, error }] = useAddAlternativeMutation()
  const idOf = useAttemptId()
  const start = async () => {
    const isOther = message.trim() !== original.description.trim()
    const request = {
      taskId: original.id,
      agent,
      codexModel: model,
      effort,
      ...(isOther && { message: message.trim() }),
    }
    const answer = await add({ id: idOf(request), ...request })
    if (answer.error !== undefined) return
    dispatch(notified('success', words.started))
    onClose()
  }
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={words.title}
      leave={words.leave}
      confirm={words.confirm}
      busy={isLoading}
      error={error && reasonOf(error, words.failed)}
      disabled={message.trim() === '' || tooLong(message, limits.descriptionLength) !== undefined}
      onConfirm={() => void start()}
    >
      <p>{words.why}</p>
      <div className="mt-4 grid gap-4 text-text">
        <div className="flex flex-wrap gap-2">
          <AgentPicker
            label={words.agent}
            agent={agent}
            onChoose={(chosen) => {
              setAgent(chosen)
              setModel(agentsOwn)
            }}
          />
          <ModelPicker agent={agent} model={model} effort={effort} onChoose={setModel} />
        </div>
        <AreaField
          label={words.message}
          minHeight={80}
          maxHeight={240}
          maxCharacters={limits.descriptionLength}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
        />
        <p className="-mt-2.5 text-meta text-muted">{words.messageHelp}</p>
      </div>
    </ConfirmDialog>
  )
}
