/**
 * Recognises messages that begin with the name of a command that the repository or the person defines. Such a command may have the name of a command
 * that is otherwise refused. The message is then accepted, and the agent runs the defined command.
 */
import type { AgentName } from '#domain/agents.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { commandNamed, refusalOfCommand } from '#domain/task/slashCommands.ts'
import { task } from '#domain/task/task.ts'
import { instructionsView } from '#domain/views/instructions.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { CommandServices } from '../services.ts'

interface Place {
  readonly projectId: string
  readonly ownerId: string
  /** The id of the task; `null` for a new task. */
  readonly taskId: string | null
  readonly branch: string
}

type Services = Pick<CommandServices, 'rpc' | 'documents' | 'commands'>

const withinMs = 8_000

/**
 * Whether a message that would otherwise be refused begins with the name of a command of the repository or the person. Runners are asked only if the
 * person has no such command; if none answers, the result is `false`.
 */
export async function isOwnCommand(
  { rpc, documents }: Services,
  { agent, ...place }: Place & { readonly agent: AgentName },
  message: string,
): Promise<boolean> {
  if (refusalOfCommand(agent, message, place.taskId === null) === null) return false
  const name = commandNamed(message)
  const own = await documents.get(instructionsView, place.ownerId)
  if (own?.commands.some((command) => command.name === name)) return true
  const found = await rpc.call('abilities', place, withinMs).catch((fault: unknown) => {
    if (fault instanceof EngineUnavailable) return undefined
    throw fault
  })
  return found?.abilities.some((ability) => ability.kind !== 'subagent' && ability.name === name) ?? false
}

/** Like `isOwnCommand`, for a message to an existing task. If the agent is `null`, the message is for the task's agent. */
export async function isOwnCommandInTask(
  services: Services,
  taskId: string,
  { agent, message }: { readonly agent: AgentName | null; readonly message: string },
): Promise<boolean> {
  if (commandNamed(message) === '') return false
  const { state } = await services.commands.load(task, taskStream(taskId))
  const shown = await services.documents.get(tasksView, taskId)
  if (state.kind !== 'task' || !shown) return false
  const { projectId, ownerId } = state
  const place = { projectId, ownerId, taskId, branch: shown.branch, agent: agent ?? state.agent }
  return isOwnCommand(services, place, message)
}
