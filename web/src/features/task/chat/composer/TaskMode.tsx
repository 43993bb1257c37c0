/** The picker of the task's mode: how freely its agent works. A change applies from the next turn. */
import { useDispatch } from 'react-redux'
import type { AgentName } from '#domain/agents.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import type { Task, updateTask } from '#domain/api/tasks.schema.ts'
import { api } from '../../../../api/api.ts'
import { requestOf } from '../../../../api/endpoint.ts'
import { ModePicker } from '../../../agents/ModePicker.tsx'
import { modeTexts as texts } from '../../../agents/modeTexts.ts'
import { notified } from '../../../notifications/notifications.ts'
import { useShowTask } from '../../useTaskActions.ts'

const modeApi = api.injectEndpoints({
  endpoints: (build) => ({
    chooseMode: build.mutation<
      AnswerOf<typeof updateTask>,
      { readonly taskId: string; readonly mode: Task['mode'] }
    >({
      query: ({ taskId, mode }) =>
        requestOf<typeof updateTask>(taskRoutes.updateTask, {
          params: { taskId },
          body: { mode },
          fallback: texts.notChanged,
        }),
    }),
  }),
})

interface TaskModeProps {
  readonly taskId: string
  readonly mode: Task['mode']
  readonly agent: AgentName
  readonly running: boolean
}

export function TaskMode({ taskId, mode, agent, running }: TaskModeProps) {
  const dispatch = useDispatch()
  const showTask = useShowTask()
  const [choose, { isLoading, originalArgs }] = modeApi.useChooseModeMutation()
  const onChoose = async (next: Task['mode']) => {
    const isChanged = showTask(await choose({ taskId, mode: next }), texts.notChanged)
    if (isChanged && running) dispatch(notified('info', texts.changed, texts.changedWhen))
  }
  return (
    <ModePicker
      agent={agent}
      mode={isLoading && originalArgs?.taskId === taskId ? originalArgs.mode : mode}
      onChoose={(next) => void onChoose(next)}
      note={running ? texts.fromNextTurn : undefined}
    />
  )
}
