/**
 * The sandbox of an agent, opened while its workspace is still being made, so that neither waits for the other. One whose workspace was not
 * made, or that does not match the turn, is closed unused.
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
  /** Opens it for a workspace whose folders exist; one that was open before is closed. A fault is logged: the turn then opens its own. */
  open(workspace: Workspace, repositoryUrl: string): void
  /** The sandbox if it was opened for such an agent; otherwise it is closed. */
  take(needed: OpenedFor): Promise<OpenedAgent | undefined>
  /** Nothing of it is left then. */
  close(): Promise<void>
}

/** The agent that a sandbox was opened for. */
export interface OpenedFor {
  /** Of its setup. */
  readonly fingerprint: string
  readonly session: string | null
}

/** The agent that a turn will ask for. */
export interface EarlyRequest extends Paying {
  readonly agent: AgentName
  readonly model: string | null
  readonly session: string | null
}

interface Opened {
  readonly sandbox: OpenedAgent
  readonly openedFor: OpenedFor
}

/** The early sandbox of a turn. Where the agent is missing, nothing is opened. */
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

  /** Hands what is open to one caller. */
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
