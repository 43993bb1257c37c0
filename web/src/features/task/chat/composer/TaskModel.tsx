/** The model that the agent of the next message is asked to use: it may change between turns. */
import { useDispatch } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { AgentName } from '#domain/agents.ts'
import { ModelPicker } from '../../../agents/ModelPicker.tsx'
import { notifiedFailure } from '../../../notifications/notifications.ts'
import { taskLoaded } from '../../taskSlice.ts'
import { useChooseModelMutation } from '../../taskApi.ts'
import { texts as taskTexts } from '../../texts.ts'
import { texts } from '../texts.ts'

interface TaskModelProps {
  readonly task: Pick<Task, 'id' | 'codexModel' | 'modelAgent'>
  /** The model that was really used last. */
  readonly used: string | null
  readonly agent: AgentName
}

export function TaskModel({ task, used, agent }: TaskModelProps) {
  const dispatch = useDispatch()
  const [choose, { isLoading, originalArgs }] = useChooseModelMutation()
  const kept = task.modelAgent === agent ? task.codexModel : null
  const onChoose = async (codexModel: string | null) => {
    const answer = await choose({ taskId: task.id, codexModel, agent })
    if (answer.error === undefined) dispatch(taskLoaded(answer.data.task))
    else dispatch(notifiedFailure(taskTexts.toasts.modelNotChanged, answer.error))
  }
  const isBeingChosen = isLoading && originalArgs?.agent === agent && originalArgs.taskId === task.id
  return (
    <ModelPicker
      agent={agent}
      model={isBeingChosen ? originalArgs.codexModel : kept}
      onChoose={(model) => void onChoose(model)}
      note={texts.composer.modelNote(used)}
      tight
    />
  )
}
