/**
 * Refuses writes whose run would certainly fail, because no runner can run the agent, or because the repository does not have the branch. If no
 * runner or code host answers, the write is accepted, and the run reports the failure.
 */
import { withinOr } from '#platform/async/timeLimit.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { AgentName } from '#domain/agents.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { hasMessage, retriedOf, task } from '#domain/task/task.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import type { Paying } from '#platform/credentials/modelKeys.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import type { CommandServices } from '../services.ts'

type Knowing = Pick<CommandServices, 'agents' | 'commands'>
type KnowingHost = Knowing & Pick<CommandServices, 'access' | 'codeHost' | 'documents'>

/**
 * Throws `agent_unavailable` when runners are connected, but none can run the agent, neither with the server's key nor with the key of the person or
 * project.
 */
export async function requireAgent(
  name: AgentName,
  by: Paying,
  { agents }: Pick<Knowing, 'agents'>,
): Promise<void> {
  const missing = agents.whyNone(name)
  if (missing === null || (await agents.canRunFor(name, by))) return
  throw new Fault('agent_unavailable', missing, 'agent')
}

/** A write that starts an agent on a task. */
interface Work {
  readonly taskId: string
  readonly commandId: string
}

/**
 * Throws `agent_unavailable` when no runner can run the agent of a message, which is `agent` or else the task's agent. A message that the task
 * already has is accepted, so that a repeated request gets the same answer as the first.
 */
export async function requireAgentOfMessage(
  {
    messageId,
    agent,
    ...work
  }: Work & { readonly messageId: string | undefined; readonly agent: AgentName | null },
  services: Knowing,
): Promise<void> {
  await requireAgentOf(work, services, (state) =>
    messageId !== undefined && hasMessage(state, messageId) ? undefined : (agent ?? state.agent),
  )
}

/** Throws `agent_unavailable` when no runner can run the agent of the turn that a retry would repeat. */
export async function requireAgentOfRetry(work: Work, services: Knowing): Promise<void> {
  await requireAgentOf(work, services, (state) => {
    const again = 'execution' in state.phase ? undefined : retriedOf(state)
    return again?.kind === 'turn' ? again.agent : undefined
  })
}

async function requireAgentOf(
  { taskId, commandId }: Work,
  services: Knowing,
  agentOf: (state: LiveTask) => AgentName | undefined,
): Promise<void> {
  const { commands } = services
  const stream = taskStream(taskId)
  const { state } = await commands.load(task, stream)
  if (state.kind !== 'task') return
  const agent = agentOf(state)
  if (agent === undefined || services.agents.whyNone(agent) === null) return
  if (!(await commands.hasTakenEffect(task, stream, commandId))) await requireAgent(agent, state, services)
}

interface NewTask {
  readonly taskId: string
  readonly ownerId: string
  readonly projectId: string
  readonly branch: string
  readonly agent: AgentName
}

/**
 * Throws when the new task's first run would certainly fail. A task that already exists is accepted, so that a repeated request gets the first
 * answer.
 */
export async function requireStartable(newTask: NewTask, services: KnowingHost): Promise<void> {
  const { state } = await services.commands.load(task, taskStream(newTask.taskId))
  if (state.kind !== 'none') return
  await requireAgent(newTask.agent, newTask, services)
  const project = await services.documents.get(projectsView, newTask.projectId)
  if (project && (await isWithout(project, newTask, services))) {
    const sentence = `The repository has no branch ${newTask.branch}. Choose one that exists, or push it first.`
    throw new Fault('invalid_input', sentence, 'branch')
  }
}

const hostTimeoutMs = 2_000
/** The name of the default branch in a repository without commits. */
const firstBranch = 'main'

type OfProject = Pick<ProjectDocument, 'githubOwner' | 'githubRepoName' | 'defaultBranch'>
interface Host {
  readonly access: Pick<HostAccess, 'tokenOf'>
  readonly codeHost: Pick<CodeHost, 'branch' | 'branches'>
}

/**
 * Whether the repository lacks the branch, according to the code host. `false` also when the code host refuses, or does not answer within two
 * seconds.
 */
export async function isWithout(
  project: OfProject,
  { branch, ownerId }: Pick<NewTask, 'branch' | 'ownerId'>,
  { access, codeHost }: Host,
): Promise<boolean> {
  // Most tasks start from the default branch. Even if it is missing, somebody may push it before the run, so the code host is not asked.
  if (branch === project.defaultBranch) return false
  const repository = { owner: project.githubOwner, name: project.githubRepoName }
  const ask = async () => {
    const token = await access.tokenOf(ownerId)
    if (await codeHost.branch(token, repository, branch)) return false
    return branch !== firstBranch || (await codeHost.branches(token, repository)).length > 0
  }
  return withinOr(hostTimeoutMs, ask().catch(unlessDefect), false)
}

/**
 * Ignores faults of the code host and a missing access to it, because the run will meet them too and will report the reason. Rethrows all other
 * errors.
 */
function unlessDefect(thrown: unknown): false {
  if (!(thrown instanceof CodeHostFault || thrown instanceof Fault)) throw thrown
  return false
}
