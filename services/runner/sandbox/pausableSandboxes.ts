/** Keeps track of the sandboxes of each task, and stops their processes for a moment, so that their disk usage can be counted. */
import { readdir, stat } from 'node:fs/promises'
import { signalProcess } from '#platform/childProcess.ts'
import type { Sandbox, SandboxedProcess, SandboxSpec } from './port.ts'
import { factsOf, processTree } from './processTree.ts'

/** The stopped processes of a workspace. */
export interface Paused {
  /** The bytes of deleted files on `device` that the paused processes hold open. No folder shows those files. */
  deletedBytes(device: number): Promise<number>
  /** Lets the processes continue, apart from those that were stopped before. */
  resume(): void
}

export interface PausableSandbox {
  /** The given sandbox, wrapped so that the processes that it starts can be paused. */
  readonly sandbox: Sandbox
  /** The sandbox of a task's agent, running or frozen; `undefined` when there is none. */
  ofAgent(taskId: string): SandboxedProcess | undefined
  /** All sandboxes of a task, the latest first, each with the ports of our own relays in it. */
  ofTask(
    taskId: string,
  ): readonly { readonly child: SandboxedProcess; readonly ownPorts: readonly number[] }[]
  /** Pauses the processes of a task's sandboxes. Those in containers continue, because their process ids are not known here. */
  pause(taskId: string): Promise<Paused>
}

interface Of {
  readonly taskId: string
  readonly isAgent: boolean
  readonly ownPorts: readonly number[]
}

/** The search for processes to stop ends after this time, even if processes start others faster than they are found. */
const pauseTimeoutMs = 500

export function pausable(inner: Sandbox): PausableSandbox {
  const running = new Map<SandboxedProcess, Of>()
  const kept = (
    child: SandboxedProcess,
    {
      workspace: { taskId },
      helperCount,
      ownPorts = [],
    }: Pick<SandboxSpec, 'workspace' | 'helperCount' | 'ownPorts'>,
  ): SandboxedProcess => {
    // Only the spec of an agent's sandbox has a `helperCount`.
    running.set(child, { taskId, isAgent: helperCount !== undefined, ownPorts })
    const forget = () => running.delete(child)
    child.exited.then(forget, forget)
    return child
  }
  const { reserve } = inner
  return {
    sandbox: {
      ...inner,
      run: (spec) => kept(inner.run(spec), spec),
      ...(reserve && {
        reserve(reserved) {
          const sandbox = reserve(reserved)
          return { ...sandbox, run: (spec) => kept(sandbox.run(spec), { ...reserved, ...spec }) }
        },
      }),
    },
    ofAgent: (taskId) => [...running].findLast(([, of]) => of.isAgent && of.taskId === taskId)?.[0],
    ofTask: (taskId) =>
      [...running]
        .filter(([, of]) => of.taskId === taskId)
        .map(([child, { ownPorts }]) => ({ child, ownPorts }))
        .toReversed(),
    pause: (taskId) =>
      pauseTrees(() =>
        [...running].flatMap(([{ pid, programs }, of]) =>
          of.taskId === taskId && pid !== null ? [pid, ...programs()] : [],
        ),
      ),
  }
}

async function pauseTrees(roots: () => readonly number[]): Promise<Paused> {
  const stopped = new Set<number>()
  const stoppedBefore = new Set<number>()
  // Stopped processes cannot start others: when a search finds no new processes, all are stopped.
  for (const end = performance.now() + pauseTimeoutMs; performance.now() < end;) {
    const found = (await Promise.all(roots().map(processTree))).flat().filter((pid) => !stopped.has(pid))
    if (found.length === 0) break
    const facts = await Promise.all(found.map((pid) => factsOf(`/proc/${pid}`)))
    for (const [index, pid] of found.entries()) {
      if (facts[index]?.state === 'T') stoppedBefore.add(pid)
      signalProcess(pid, 'SIGSTOP')
      stopped.add(pid)
    }
  }
  return {
    deletedBytes: (device) => deletedBytes([...stopped], device),
    resume() {
      // A frozen agent stays frozen.
      for (const pid of stopped) if (!stoppedBefore.has(pid)) signalProcess(pid, 'SIGCONT')
    },
  }
}

async function deletedBytes(pids: readonly number[], device: number): Promise<number> {
  const found = new Map<number, number>()
  for (const pid of pids)
    for (const name of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const file = await stat(`/proc/${pid}/fd/${name}`).catch(() => undefined)
      if (file?.isFile() && file.nlink === 0 && file.dev === device) found.set(file.ino, file.blocks * 512)
    }
  return [...found.values()].reduce((sum, bytes) => sum + bytes, 0)
}
