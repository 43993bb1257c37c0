/**
 * The box of an agent, opened while its workspace is still being made: each takes its time, and the agent begins when both are there. One
 * whose workspace came to nothing, or that is not what the turn asks for, is closed unused.
 */
import { isDeepStrictEqual } from 'node:util'
import type { AgentName } from '#domain/agents.ts'
import type { WorkspaceDeps } from '../deps.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { OpenedAgent } from '../execution/agentProcess.ts'
import { agentSetup, openFor } from '../execution/agentSetup.ts'
import { sandboxEnvsOf } from '../execution/sandboxEnvs.ts'

export interface EarlySandbox {
  /** Opens it on a workspace whose folders are there; one that was open before is closed. What fails is left to the turn, which tells it. */
  open(workspace: Workspace, repositoryUrl: string): void
  /** The box, where it was opened for such an agent; another is closed. */
  take(wanted: OpenedFor): Promise<OpenedAgent | undefined>
  /** Nothing of it is left then. */
  close(): Promise<void>
}

/** What an agent was opened for. */
export interface OpenedFor {
  /** Of its setup. */
  readonly fingerprint: string
  readonly session: string | null
}

interface Opened {
  readonly box: OpenedAgent
  readonly openedFor: OpenedFor
}

/** The early box of a turn. Where there is no such agent nothing is opened. */
export function earlySandboxOf(
  deps: WorkspaceDeps,
  wish: {
    readonly projectId: string
    readonly agent: AgentName
    readonly model: string | null
    readonly session: string | null
  },
): EarlySandbox {
  const { session } = wish
  return earlySandbox({
    async open(workspace, repositoryUrl) {
      const { forAgent } = await sandboxEnvsOf(deps, { ...wish, workspace, repositoryUrl })
      const asked = { ...wish, workspace, sandboxEnv: forAgent }
      const setup = await agentSetup(deps, asked)
      if (setup.kind === 'failed') return undefined
      const box = await openFor(deps, asked, setup, session)
      return { box, openedFor: { fingerprint: setup.fingerprint, session } }
    },
    onFault: (fault) => deps.logger.info({ err: fault }, 'failed to open a box early'),
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

  /** What is open, for one who asks for it: nobody else has it any more. */
  function handOver(): Promise<Opened | undefined> {
    const opened = opening
    opening = Promise.resolve(undefined)
    return opened
  }
  async function close(): Promise<void> {
    await (await handOver())?.box.close()
  }

  return {
    open(workspace, repositoryUrl) {
      opening = close()
        .then(() => open(workspace, repositoryUrl))
        .catch((fault: unknown) => void onFault(fault))
    },
    async take(wanted) {
      const opened = await handOver()
      if (opened?.box.isOpen() === true && isDeepStrictEqual(opened.openedFor, wanted)) return opened.box
      await opened?.box.close()
      return undefined
    },
    close,
  }
}
