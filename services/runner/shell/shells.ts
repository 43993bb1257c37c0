/** The shells of people in the sandboxes of tasks: at most one for each task, recorded like the output of a command. */
import { randomUUID } from 'node:crypto'
import { CannotStart } from '#platform/childProcess.ts'
import { openInput } from '#platform/live/shellInput.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { ShellEnd } from '#domain/task/shells.ts'
import { task as decider } from '#domain/task/task.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { orElse } from '#platform/async/orElse.ts'
import { withinOr } from '#platform/async/timeLimit.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { RpcRequest, RpcResponse } from '#platform/ports/rpc.ts'
import { ownSecrets, valuesOf } from '../execution/taskSecrets.ts'
import { mirrored, reachAsPerson, rightsOf } from '../execution/repositoryAccess.ts'
import { sandboxEnvsOf } from '../execution/sandboxEnv.ts'
import { isElsewhere } from '../queue/taskAffinity.ts'
import type { TerminalSize } from '../sandbox/program.ts'
import { endOfShell, recordShell, type RecordedShell } from './recordedShell.ts'
import { markedShells, markShell, unmarkShell } from './shellMarker.ts'
import type { ShellDeps } from './shellDeps.ts'
import { shellSandbox } from './shellSandbox.ts'

export interface Shells {
  open(request: RpcRequest<'openShell'>): Promise<RpcResponse<'openShell'> | undefined>
  use(request: RpcRequest<'useShell'>): Promise<RpcResponse<'useShell'> | undefined>
  has(taskId: string): boolean
  /** Ends a task's shell. Resolves when nothing of it is left. */
  end(taskId: string): Promise<void>
  /** Ends all shells, because the server stops. */
  close(): Promise<void>
}

interface OpenedShell extends RecordedShell {
  readonly isShared: boolean
}

/** A shell that is open or opening, and the owner of its task. */
interface OpenShell {
  readonly owner: string
  readonly opening: Promise<OpenedShell>
}

/** How many shells a person may have on a runner: each may hold a sandbox for hours. */
const maxShells = 20
/** How long the code host is waited for when a shell opens, in ms. */
const accessCheckMs = 5_000
const tooManyShells = `You have ${maxShells} open shells. Close one first.`

export function openShells(deps: ShellDeps): Shells {
  const shells = new Map<string, OpenShell>()
  const lostEndsRecorded = recordLostEnds(deps)
  async function endAll(taskIds: Iterable<string>, why: ShellEnd): Promise<void> {
    const ending = [...taskIds].map(async (taskId) => {
      const shell = await shells.get(taskId)?.opening.catch(() => undefined)
      shell?.end(why)
      await shell?.ended
    })
    await Promise.all(ending)
  }
  return {
    async open({ taskId, size }) {
      if (!(await deps.workspaces.has(taskId)) || (await isElsewhere(deps, taskId))) return undefined
      await lostEndsRecorded
      const task = await deps.documents.get(tasksView, taskId)
      if (!task) return { kind: 'refused', code: 'not_found', sentence: 'There is no such task.' }
      const { owner } = task
      const before = await shells.get(taskId)?.opening.catch(() => undefined)
      if (before?.isOver() === true) await before.ended
      const others = [...shells].filter(([id, shell]) => id !== taskId && shell.owner === owner)
      if (others.length >= maxShells)
        return { kind: 'refused', code: 'rate_limited', sentence: tooManyShells }
      const own = shells.get(taskId) ?? { owner, opening: openShell(deps, task, size) }
      shells.set(taskId, own)
      const forget = () => void (shells.get(taskId) === own && shells.delete(taskId))
      try {
        const shell = await own.opening
        void shell.ended.then(forget)
        return { kind: 'opened', shellId: shell.shellId, shared: shell.isShared }
      } catch (thrown) {
        forget()
        if (thrown instanceof Fault) return { kind: 'refused', code: thrown.code, sentence: thrown.message }
        if (!(thrown instanceof CannotStart)) throw thrown
        return {
          kind: 'refused',
          code: 'agent_unavailable',
          sentence: `A shell cannot be opened: ${thrown.message}.`,
        }
      }
    },
    async use({ taskId, shellId, use }) {
      const shell = await shells.get(taskId)?.opening.catch(() => undefined)
      if (shell?.shellId !== shellId || shell.isOver()) return undefined
      if (use.kind === 'resize') shell.resize(use.size)
      else if (use.kind === 'close') shell.end('closed')
      else {
        const bytes = await openInput(deps.vault, { taskId, shellId }, use.sealed)
        if (bytes === undefined) return undefined
        await shell.input(bytes)
      }
      return { taken: true }
    },
    has: (taskId) => shells.has(taskId),
    end: (taskId) => endAll([taskId], 'sandbox_ended'),
    close: () => endAll(shells.keys(), 'stopped'),
  }
}

async function openShell(deps: ShellDeps, task: TaskDocument, size: TerminalSize): Promise<OpenedShell> {
  const { id: taskId, agent, projectId, owner } = task
  const noSpace = deps.disk.refusal()
  if (noSpace !== undefined) throw new Fault('disk_full', noSpace)
  // Until then, git on this machine may still write into the tree, even into the agent's own `.git`.
  const { state } = await deps.commands.load(decider, taskStream(taskId))
  if (state.kind !== 'task' || state.workspace !== 'ready') throw new Fault('not_initialized')
  const reached = await reachAsPerson(deps, task)
  if (reached.kind === 'failed') throw new Fault('no_repository_access', reached.reason)
  // A shell reads all that the project's mirror has. An access that cannot be checked now was there at the task's start.
  const checking = rightsOf(deps, reached).catch(orElse(CodeHostFault, undefined))
  const rights = await withinOr(accessCheckMs, checking, undefined)
  if (rights && 'kind' in rights) throw new Fault('no_repository_access', rights.reason)
  const mirror = await deps.mirrors.find(mirrored(reached))
  const workspace = mirror && (await deps.workspaces.read(taskId, mirror))
  if (!workspace) throw new Fault('not_initialized')
  const envs = await sandboxEnvsOf(deps, { projectId, agent, workspace, repositoryUrl: reached.access.url })
  const own = await ownSecrets(deps, reached.access, { ownerId: owner, projectId })
  const sandbox = await shellSandbox(deps, workspace, envs)
  try {
    const env = { ...sandbox.env, TERM: 'xterm-256color', PS1: '\\w \\$ ' }
    const program = await sandbox.process.exec({ command: ['/bin/bash'], env, terminal: size })
    const shellId = deps.ids.uuid()
    try {
      await markShell(deps.root, taskId, { shellId, size })
      const cause = { actor: { kind: 'user', userId: owner }, commandId: randomUUID() } as const
      await deps.commands.execute(decider, taskStream(taskId), { type: 'OpenShell', shellId }, cause)
    } catch (fault) {
      program.kill()
      throw fault
    }
    const recording = {
      ...deps,
      allowance: deps.allowances.ofRun({ userId: owner, executionId: shellId }),
      redaction: deps.redaction(valuesOf([...envs.secrets, ...own])),
    }
    const shell = recordShell(recording, { taskId, shellId, program, size })
    const unwatchDisk = deps.disk.watch({
      taskId,
      stop: { stop: (_reason, sentence) => shell.end('sandbox_ended', sentence) },
    })
    const ended = async (): Promise<void> => {
      await shell.ended
      unwatchDisk()
      deps.terminals.forget(taskId)
      const unmarked = unmarkShell(deps.root, taskId).catch((fault: unknown) =>
        deps.logger.warn({ err: fault, taskId }, 'failed to remove the marker of a shell'),
      )
      await Promise.all([unmarked, sandbox.close()])
    }
    return { ...shell, ended: ended(), isShared: sandbox.isShared }
  } catch (fault) {
    await sandbox.close()
    throw fault
  }
}

/** Records the end of the shells that were open when an earlier process was killed. */
async function recordLostEnds(deps: ShellDeps): Promise<void> {
  const { root, terminals, logger } = deps
  for (const { taskId, shellId, size } of await markedShells(root))
    try {
      if (!(await isElsewhere(deps, taskId)))
        await terminals.append(taskId, endOfShell(shellId, size, 'stopped'))
      terminals.forget(taskId)
      await unmarkShell(root, taskId)
    } catch (fault) {
      logger.warn({ err: fault, taskId }, 'the end of a shell cannot be recorded')
    }
}
