/** The choices for the next turn: the model of the next message's agent, its effort, and how freely it works. */
import type { AgentName } from '#domain/agents.ts'
import { modesOf } from '#domain/agents/capabilities.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { ModelPicker } from '../../../agents/ModelPicker.tsx'
import { useChooseModelMutation } from '../../taskApi.ts'
import { texts as taskTexts } from '../../texts.ts'
import { useShowTask } from '../../useTaskActions.ts'
import { texts } from '../texts.ts'
import { TaskMode } from './TaskMode.tsx'

interface TaskChoicesProps extends TaskModelProps {
  readonly task: TaskModelProps['task'] & Pick<Task, 'mode'>
  readonly running: boolean
}

export function TaskChoices({ task, running, ...model }: TaskChoicesProps) {
  return (
    <>
      <TaskModel task={task} {...model} />
      {(modesOf(model.agent).length > 1 || task.mode !== 'free') && (
        <TaskMode taskId={task.id} mode={task.mode} agent={model.agent} running={running} />
      )}
    </>
  )
}

interface TaskModelProps {
  readonly task: Pick<Task, 'id' | 'codexModel' | 'modelAgent'> & { readonly effort: string | undefined }
  readonly used: string | null
  readonly agent: AgentName
}

function TaskModel({ task, used, agent }: TaskModelProps) {
  const showTask = useShowTask()
  const [choose, { isLoading, originalArgs }] = useChooseModelMutation()
  const kept = task.modelAgent === agent ? task : { codexModel: null, effort: undefined }
  const isBeingChosen = isLoading && originalArgs?.agent === agent && originalArgs.taskId === task.id
  const { codexModel, effort = null } = isBeingChosen ? originalArgs : kept
  return (
    <ModelPicker
      agent={agent}
      model={codexModel}
      effort={effort}
      onChoose={async ({ model, effort: level }) =>
        showTask(
          await choose({ taskId: task.id, codexModel: model, effort: level, agent }),
          taskTexts.toasts.modelNotChanged,
        )
      }
      note={texts.composer.modelNote(used)}
      tight
    />
  )
}
