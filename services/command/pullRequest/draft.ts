/** Makes a task's pull request at the code host a draft, or ready for review. */
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { pullRequestsView } from '#domain/views/pullRequests.ts'
import { bySystem } from '#platform/commands/causation.ts'
import { executeOnTask, type CommandServices } from '../services.ts'

/**
 * Records who requested the change, changes the pull request at the code host, and records its new state if it can be read. Throws Fault and
 * CodeHostFault.
 */
export async function setDraft(
  services: CommandServices,
  taskId: string,
  request: Parameters<typeof executeOnTask>[2],
  draft: boolean,
) {
  const { codeHost, commands, access } = services
  const nodeId = await pullRequestNode(services, taskId)
  const token = await access.tokenOf(request.user.id)
  const requested = await executeOnTask(services, taskId, request, { type: 'RequestDraft', draft })
  const { repeated, state } = requested
  // A repeated request must not undo a later one. Otherwise it is done again, because the first attempt may have failed at the code host.
  if (repeated && state.kind === 'task' && state.pullRequest?.draftRequested !== draft) return requested
  await codeHost.setDraft(token, nodeId, draft)
  const [reading] = await codeHost.pullRequestStates(token, [{ nodeId }])
  const observed = reading?.kind === 'read' ? reading.pullRequest : null
  const cause = bySystem('follower')
  return observed
    ? commands.execute(task, taskStream(taskId), { type: 'ObservePullRequest', observed }, cause)
    : commands.load(task, taskStream(taskId))
}

/** The code host's id of the task's pull request. Throws when there is none, when its id is unknown, and when it has not the given `number`. */
export async function pullRequestNode(
  { documents }: CommandServices,
  taskId: string,
  number: number | null = null,
): Promise<string> {
  const pull = await documents.now(pullRequestsView, taskStream(taskId), taskId)
  if (!pull) throw new Fault('not_found', 'This task has no pull request.')
  if (number !== null && pull.number !== number)
    throw new Fault('not_found', 'This feedback is on an earlier pull request of this task.')
  if (pull.nodeId === null)
    throw new Fault('code_host_unavailable', 'The pull request has not been read yet. Try again in a moment.')
  return pull.nodeId
}
