/** The dialog that creates a new task from a turn: its message, title and agent. */
import { useState } from 'react'
import { limits } from '#domain/api/limits.ts'
import { useDispatch } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import type { AgentName } from '#domain/agents.ts'
import { reasonOf } from '../../../api/fault.ts'
import { AreaField, Field } from '../../../ui/form/Field.tsx'
import { tooLong } from '../../../ui/form/lengthLimit.ts'
import { ConfirmDialog } from '../../../ui/overlay/ConfirmDialog.tsx'
import { AgentPicker } from '../../agents/AgentPicker.tsx'
import { notified } from '../../notifications/notifications.ts'
import { useForkTaskMutation, type TurnOfTask } from './forkApi.ts'
import { useAttemptId } from '../useAttemptId.ts'
import { texts } from './texts.ts'

/** The longest title of a task, in characters. */
const maxTitleLength = 100

interface ForkDialogProps extends TurnOfTask {
  readonly agent: AgentName
  /** The title of the task that the turn belongs to. */
  readonly title: string
  readonly onClose: () => void
}

export function ForkDialog({ taskId, executionId, agent: ofTurn, title: ofTask, onClose }: ForkDialogProps) {
  const [message, setMessage] = useState('')
  const [title, setTitle] = useState(ofTask)
  const [agent, setAgent] = useState(ofTurn)
  const dispatch = useDispatch()
  const navigate = useNavigate()
  const [fork, { isLoading, error }] = useForkTaskMutation()
  const idOf = useAttemptId()
  const create = async () => {
    const request = {
      taskId,
      executionId,
      agent,
      ...(message.trim() !== '' && { message }),
      ...(title.trim() !== '' && { title: title.trim() }),
    }
    const answer = await fork({ id: idOf(request), ...request })
    if (answer.error !== undefined) return
    dispatch(notified('success', texts.fork.created))
    onClose()
    void navigate(`/tasks/${answer.data.task.id}`)
  }
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={texts.fork.title}
      leave={texts.fork.leave}
      confirm={texts.fork.confirm}
      busy={isLoading}
      error={error && reasonOf(error, texts.fork.failed)}
      disabled={(tooLong(message, limits.descriptionLength) ?? tooLong(title, maxTitleLength)) !== undefined}
      onConfirm={() => void create()}
    >
      <p>{texts.fork.why}</p>
      <div className="mt-4 grid gap-4 text-text">
        <AreaField
          label={texts.fork.message}
          minHeight={80}
          maxHeight={240}
          maxCharacters={limits.descriptionLength}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
        />
        <p className="-mt-2.5 text-meta text-muted">{texts.fork.messageHelp}</p>
        <Field
          label={texts.fork.name}
          maxCharacters={maxTitleLength}
          value={title}
          onChange={(event) => setTitle(event.target.value)}
        />
        <AgentPicker label={texts.fork.agent} agent={agent} onChoose={setAgent} />
        {agent !== ofTurn && <p className="text-meta text-muted">{texts.fork.transcript}</p>}
        <p className="text-meta text-muted">{texts.fork.ignored}</p>
      </div>
    </ConfirmDialog>
  )
}
