/** Collects what the agent of a task needs, and starts it. */
import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { artifactFolder } from '#domain/api/artifacts.ts'
import { labelOf, type AgentName } from '#domain/agents.ts'
import { takesModel } from '#domain/agents/models.ts'
import type { AgentMode } from '#domain/task/questionEvents.ts'
import type { OwnInstructions } from '#domain/user/instructions.ts'
import type { Paying } from '#platform/credentials/modelKeys.ts'
import { accountOf, type Account } from '../../agents/account.ts'
import { agents } from '../../agents/registry.ts'
import { allowedHooks } from '../../agents/hooks.ts'
import { instructionFiles, writeHome } from '../../agents/home.ts'
import type { Found } from '../../agents/locate.ts'
import type { Agent, HomeFile } from '../../agents/port.ts'
import type { AgentDeps } from '../../deps.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { openAgent, type AgentProcess, type OpenedAgent } from './agentProcess.ts'
import { failed, type Failed } from '../failure.ts'
import { toldOfServices } from '../services/projectServices.ts'
import type { SandboxEnv } from '../sandboxEnv.ts'

/** The agent that a task needs, and its settings. */
export interface AgentRequest extends Paying {
  readonly workspace: Workspace
  readonly agent: AgentName
  /** The model as the client sent it; passed on only when the agent accepts it. */
  readonly model: string | null
  readonly mode: AgentMode
  /** The rules that a person has allowed 'always in this task', in the agent's notation. */
  readonly allowedRules: readonly string[]
  readonly sandboxEnv: SandboxEnv
}

/** The mode of most tasks, for which agents are started in advance. */
export const freeMode = { mode: 'free', allowedRules: [] } as const

/** An agent request, with the instructions of the person and the allowed hooks, which the agent's home needs. */
export interface EquippedRequest extends AgentRequest {
  /** The person's own instructions and commands. */
  readonly own: OwnInstructions
  /** The hash of the version of the repository's hooks that may run; `null`: none. */
  readonly allowedHooks: string | null
}

/** Whether the agent runs programs of the workspace as soon as it starts: hooks of the repository, or local MCP servers. */
export function startsPrograms({
  allowedHooks,
  sandboxEnv,
}: Pick<EquippedRequest, 'allowedHooks' | 'sandboxEnv'>): boolean {
  return allowedHooks !== null || (sandboxEnv.mcp?.local ?? []).length > 0
}

/** An agent that can be started. */
export interface AgentSetup {
  readonly kind: 'set_up'
  readonly agent: Agent
  readonly program: Found
  readonly sandbox: Sandbox
  readonly account: Account
  /** A text that is equal for setups whose sandboxes can replace each other. */
  readonly fingerprint: string
}

/** Collects what the agent needs, or returns a sentence that says what is missing. Reads nothing in the workspace. */
export async function agentSetup(
  deps: Pick<AgentDeps, 'installed' | 'sandbox' | 'modelKeys' | 'onlyScripted' | 'egress'>,
  { agent: name, model, mode, sandboxEnv, ...by }: AgentRequest,
): Promise<AgentSetup | Failed> {
  const agent = agents[name]
  const located = await deps.installed.located(name)
  if (!located.found) return failed('no_agent', located.reason)
  const { sandbox } = deps
  if ('missing' in sandbox) return failed('no_box', sandbox.missing)
  const account = await accountOf(deps, agent, by)
  if (account.kind === 'none') return failed(account.code, account.why)
  const launchedWith = takesLive(deps, agent, model) ? null : model
  const started = [agent.name, located, launchedWith, mode, account.fingerprint, sandboxEnv.fingerprint]
  return { kind: 'set_up', agent, program: located, sandbox, account, fingerprint: JSON.stringify(started) }
}

/**
 * Whether a running process can switch to this model at any turn. Only some agents can, and only to the default, to a model that they are known to
 * have, or for a name that is no model of theirs: the default then replaces it.
 */
function takesLive({ installed }: Pick<AgentDeps, 'installed'>, agent: Agent, model: string | null): boolean {
  if (agent.choosesLive !== true) return false
  return (
    model === null ||
    !takesModel(agent.name, model) ||
    installed.models(agent.name).some(({ name }) => name === model)
  )
}

/** Opens the sandbox of an agent that will resume a session, or start one if `session` is `null`. */
export function openSandboxFor(
  deps: Parameters<typeof openAgent>[0],
  request: AgentRequest,
  setup: AgentSetup,
  session: string | null,
): Promise<OpenedAgent> {
  return openAgent(deps, { ...request, ...setup, backend: setup.account.backend, session })
}

/** Why the agent must not start with the files in the workspace; `undefined` when it may. */
export function refusalIn({ agent }: AgentSetup, workspace: Workspace): Failed | undefined {
  const file = agent.refusedFiles?.find((one) => isIn(workspace, one))
  if (file === undefined) return undefined
  const sentence = `${labelOf(agent.name)} would run programs that the repository names in ${file}, unasked, so it is not started. Choose another agent, or remove ${file}.`
  return failed('no_agent', sentence)
}

// Synchronous, as it takes microseconds. Asynchronous reads were measured to wait 8 ms, because Node's threads were busy resuming a warm agent.
const isIn = ({ dir }: Workspace, file: string): boolean =>
  lstatSync(join(dir, file), { throwIfNoEntry: false }) !== undefined

/**
 * The files of an agent's home. They depend on the instruction files in the workspace, on the repository, on the project's settings, and on the
 * person.
 */
export async function homeFilesFor(
  { abilities }: Pick<AgentDeps, 'abilities'>,
  { agent, sandbox }: AgentSetup,
  { workspace, own, sandboxEnv, allowedHooks: allowed }: EquippedRequest,
): Promise<readonly HomeFile[]> {
  const found = await abilities.of(workspace)
  const heeded = [...instructionFiles, ...(agent.heededFiles ?? [])]
  const present = new Set(heeded.filter((file) => isIn(workspace, file)))
  const { tree } = sandbox.paths(workspace)
  return agent.home(present, tree, {
    files: found.files,
    hooks: allowedHooks(found, allowed),
    ...own,
    instructions: instructionsFor({ sandbox }, { workspace, own, sandboxEnv }),
  })
}

/** The person's instructions, and what the agent must know about its surroundings. */
function instructionsFor(
  { sandbox }: Pick<AgentSetup, 'sandbox'>,
  { workspace, own, sandboxEnv }: Pick<EquippedRequest, 'workspace' | 'own' | 'sandboxEnv'>,
): string {
  const { tree } = sandbox.paths(workspace)
  const services = toldOfServices(sandboxEnv.services ?? [], sandbox)
  return [own.instructions, noteOnArtifacts(tree), services].filter((text) => text !== '').join('\n\n')
}

/** The first message of a session, with the instructions for an agent that finds none in its home. */
export function firstMessage(
  message: string,
  setup: Pick<AgentSetup, 'agent' | 'sandbox'>,
  request: Parameters<typeof instructionsFor>[1],
): string {
  if (setup.agent.instructions !== 'message') return message
  return `${message}\n\nFollow these instructions in all that you do:\n\n${instructionsFor(setup, request)}`
}

/** Tells the agent where to leave files for people. */
const noteOnArtifacts = (tree: string): string =>
  `To show people a screenshot, a video or a report, save it in ${tree}/${artifactFolder}: it is shown when your turn ends, and is never part of the changes.`

/** Starts an agent in its sandbox. The workspace must be ready. */
export async function startAgent(
  opening: Promise<OpenedAgent>,
  { agent }: Pick<AgentSetup, 'agent'>,
  home: readonly HomeFile[],
  { homeDir, owner }: Pick<Workspace, 'homeDir' | 'owner'>,
): Promise<AgentProcess> {
  const writing = writeHome(homeDir, home, owner, agent.ownFolders)
  const [opened, written] = await Promise.allSettled([opening, writing])
  if (opened.status === 'rejected') throw opened.reason
  if (written.status === 'fulfilled') return opened.value.begin()
  await opened.value.close()
  throw written.reason
}

/** A hash of how an agent is started. A warm agent can be used only if it was started with the same hash. */
export function startFingerprint({ fingerprint }: AgentSetup, home: readonly HomeFile[]): string {
  const hash = createHash('sha256').update(fingerprint)
  for (const { path, content, ...kind } of home)
    hash.update(JSON.stringify([path, content.length, kind])).update(content)
  return hash.digest('hex')
}
