/**
 * Opens the sandbox of an agent while its workspace is still being made, so that neither waits for the other. The sandbox is closed unused if the
 * workspace cannot be made, or if the turn needs another agent.
 */
import { isDeepStrictEqual } from 'node:util'
import type { AgentName } from '#domain/agents.ts'
import type { Paying } from '#platform/credentials/modelKeys.ts'
import type { AgentDeps } from '../deps.ts'
import type { OpenedAgent } from '../execution/turn/agentProcess.ts'
import { agentSetup, freeMode, openSandboxFor } from '../execution/turn/agentSetup.ts'
import { sandboxEnvsOf } from '../execution/sandboxEnv.ts'
import type { Workspace } from '../workspace/workspace.ts'

export interface EarlySandbox {
  /**
   * Opens the sandbox for a workspace whose folders exist, and closes the sandbox that an earlier call opened. A fault is logged; the turn then opens
   * its own sandbox.
   */
  open(workspace: Workspace, repositoryUrl: string): void
  /** Returns the sandbox if it was opened for the agent that `needed` describes; otherwise closes it. */
  take(needed: OpenedFor): Promise<OpenedAgent | undefined>
  /** Closes the sandbox. Nothing of it is left when this resolves. */
  close(): Promise<void>
}

/** The agent that a sandbox was opened for. */
export interface OpenedFor {
  /** The fingerprint of the agent's setup. */
  readonly fingerprint: string
  readonly session: string | null
}

/** The agent that the turn will need. */
export interface EarlyRequest extends Paying {
  readonly agent: AgentName
  readonly model: string | null
  readonly session: string | null
}

interface Opened {
  readonly sandbox: OpenedAgent
  readonly openedFor: OpenedFor
}

/** Makes the early sandbox of a turn. If the agent cannot be set up, nothing is opened. */
export function earlySandboxFor(deps: AgentDeps, request: EarlyRequest): EarlySandbox {
  const { session } = request
  return earlySandbox({
    async open(workspace, repositoryUrl) {
      const { forAgent } = await sandboxEnvsOf(deps, { ...request, workspace, repositoryUrl })
      const agentRequest = { ...request, ...freeMode, workspace, sandboxEnv: forAgent }
      const setup = await agentSetup(deps, agentRequest)
      if (setup.kind === 'failed') return undefined
      const sandbox = await openSandboxFor(deps, agentRequest, setup, session)
      return { sandbox, openedFor: { fingerprint: setup.fingerprint, session } }
    },
    onFault: (fault) => deps.logger.info({ err: fault }, 'failed to open a sandbox early'),
  })
}

export function earlySandbox({
  open,
  onFault,
}: {
  readonly open: (workspace: Workspace, repositoryUrl: string) => Promise<Opened | undefined>
  readonly onFault: (fault: unknown) => void
}): EarlySandbox {
  let opening: Promise<Opened | undefined> = Promise.resolve(undefined)

  /** Gives the open sandbox to one caller only. */
  function handOver(): Promise<Opened | undefined> {
    const opened = opening
    opening = Promise.resolve(undefined)
    return opened
  }
  async function close(): Promise<void> {
    await (await handOver())?.sandbox.close()
  }

  return {
    open(workspace, repositoryUrl) {
      opening = close()
        .then(() => open(workspace, repositoryUrl))
        .catch((fault: unknown) => void onFault(fault))
    },
    async take(needed) {
      const opened = await handOver()
      if (opened?.sandbox.isOpen() === true && isDeepStrictEqual(opened.openedFor, needed))
        return opened.sandbox
      await opened?.sandbox.close()
      return undefined
    },
    close,
  }
}
