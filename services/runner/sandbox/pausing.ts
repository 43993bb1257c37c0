/** Holds what runs in a workspace's sandboxes still for a moment, so that what it has taken of the disk can be counted. */
import { readdir, stat } from 'node:fs/promises'
import { signalProcess } from '#platform/childProcess.ts'
import type { Sandbox, SandboxedProcess } from './port.ts'
import { processTree } from './processTree.ts'

/** The processes of a workspace, stopped. */
export interface Paused {
  /** Bytes of deleted files on a device that they have open, which no folder shows. */
  deletedBytes(device: number): Promise<number>
  /** Lets them run on. */
  resume(): void
}

export interface PausableSandbox {
  /** The sandbox that was given: what is started through it can be paused. */
  readonly sandbox: Sandbox
  /** Stops all processes of a task's sandboxes. Containers, whose processes are not this machine's, run on. */
  pause(taskId: string): Promise<Paused>
}

/** Processes that begin others faster than they are found run on after this time. */
const pauseTimeoutMs = 500

export function pausable(inner: Sandbox): PausableSandbox {
  const running = new Map<SandboxedProcess, string>()
  const kept = (child: SandboxedProcess, taskId: string): SandboxedProcess => {
    running.set(child, taskId)
    const forget = () => running.delete(child)
    child.exited.then(forget, forget)
    return child
  }
  const { reserve } = inner
  return {
    sandbox: {
      ...inner,
      run: (spec) => kept(inner.run(spec), spec.workspace.taskId),
      ...(reserve && {
        reserve(reserved) {
          const sandbox = reserve(reserved)
          return { ...sandbox, run: (spec) => kept(sandbox.run(spec), reserved.workspace.taskId) }
        },
      }),
    },
    pause: (taskId) =>
      pauseTrees([...running].flatMap(([{ pid }, of]) => (of === taskId && pid !== null ? [pid] : []))),
  }
}

async function pauseTrees(roots: readonly number[]): Promise<Paused> {
  const stopped = new Set<number>()
  // A process that is stopped begins no other: where nobody new is found, nobody is left.
  for (const end = performance.now() + pauseTimeoutMs; performance.now() < end;) {
    const found = (await Promise.all(roots.map(processTree))).flat().filter((pid) => !stopped.has(pid))
    if (found.length === 0) break
    for (const pid of found) {
      signalProcess(pid, 'SIGSTOP')
      stopped.add(pid)
    }
  }
  return {
    deletedBytes: (device) => deletedBytes([...stopped], device),
    resume() {
      for (const pid of stopped) signalProcess(pid, 'SIGCONT')
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
