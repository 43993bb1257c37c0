/** The agent of a task as it is to be started: its program, its box, what it finds in its home; and the start itself. */
import { readdir } from 'node:fs/promises'
import type { AgentName } from '#domain/agents.ts'
import { agents } from '../agents/agents.ts'
import { instructionFiles, writeHome } from '../agents/home.ts'
import type { Found } from '../agents/locate.ts'
import type { Agent, HomeFile } from '../agents/port.ts'
import type { WorkspaceDeps } from '../deps.ts'
import type { Sandbox } from '../sandbox/port.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { AgentProcess } from './agent.ts'
import { openAgent, type OpenedAgent } from './agentProcess.ts'
import type { SandboxEnv } from './sandboxEnv.ts'
import { failed, type Failed } from './failed.ts'

/** What an agent is asked to be for a task. */
export interface AgentWish {
  readonly workspace: Workspace
  readonly agent: AgentName
  /** As the client sent it; passed on only when the agent takes it. */
  readonly model: string | null
  /** What the agent's box has beside the agent. */
  readonly sandboxEnv: SandboxEnv
}

/** An agent that can be started for this task. */
export interface AgentSetup {
  readonly kind: 'set_up'
  readonly agent: Agent
  readonly program: Found
  readonly sandbox: Sandbox
  readonly apiKey: string
  /** All of it in words: a box that was opened with the same serves as well. */
  readonly fingerprint: string
}

/** Finds what the agent needs, or the sentence that says what is missing. Looks at nothing in the workspace. */
export async function agentSetup(
  deps: WorkspaceDeps,
  { agent: name, model, sandboxEnv }: AgentWish,
): Promise<AgentSetup | Failed> {
  const agent = agents[name]
  if (!agent) return failed('no_agent', `The ${name} agent is not available yet. Choose Claude.`)
  const located = await deps.located(name)
  if (!located.found) return failed('no_agent', located.reason)
  const { sandbox } = deps
  if ('missing' in sandbox) return failed('no_box', sandbox.missing)
  const apiKey = agent.access === 'key' ? deps.agentKeys[name] : ''
  if (apiKey === undefined)
    return failed('no_key', `This server has no API key for ${name}. Ask its operator to set one.`)
  const fingerprint = JSON.stringify([agent.name, located, model, sandboxEnv.fingerprint])
  return { kind: 'set_up', agent, program: located, sandbox, apiKey, fingerprint }
}

/** Opens the box of an agent, which goes on with a session or has a new one. */
export function openFor(
  deps: WorkspaceDeps,
  { workspace, model, sandboxEnv }: AgentWish,
  { agent, program, sandbox, apiKey }: AgentSetup,
  session: string | null,
): Promise<OpenedAgent> {
  return openAgent(deps, { agent, program, sandbox, workspace, session, model, apiKey, sandboxEnv })
}

/** What an agent finds in its home, by what is in the workspace. */
export async function homeFor(
  { agent, sandbox }: AgentSetup,
  workspace: Workspace,
): Promise<readonly HomeFile[]> {
  const names = await readdir(workspace.dir)
  const present = new Set(names.filter((name) => instructionFiles.some((file) => file === name)))
  return agent.home(present, sandbox.paths(workspace).tree)
}

/** Has an agent begin in its box. The workspace must be ready. */
export async function beginIn(
  opening: Promise<OpenedAgent>,
  home: readonly HomeFile[],
  { homeDir, owner }: Workspace,
): Promise<AgentProcess> {
  const [opened, written] = await Promise.allSettled([opening, writeHome(homeDir, home, owner)])
  if (opened.status === 'rejected') throw opened.reason
  if (written.status === 'fulfilled') return opened.value.begin()
  await opened.value.close()
  throw written.reason
}
