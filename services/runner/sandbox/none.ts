/**
 * No box: commands run as plain children, with the server's file system and network. What they start and detach may outlive them.
 * For operators who ask for it by name, on a machine where an agent may do what it likes.
 */
import { run, signalProcess, spawnProcess } from '../process.ts'
import type { Git } from '../workspace/git.ts'
import { watchLimits } from './limits.ts'
import type { Sandbox, SandboxedProcess, SandboxEnd, SandboxSpec } from './port.ts'

export interface NoSandboxOptions {
  /** PATH for commands. */
  readonly path: string
  readonly git: Git
}

export function noSandbox({ path, git }: NoSandboxOptions): Sandbox {
  return {
    kind: 'none',
    run: (spec) => startPlain(path, spec),
    paths: ({ dir, homeDir }) => ({ tree: dir, home: homeDir }),
    seenAs: ({ source }) => source,
    gitFor: () => git,
  }
}

function startPlain(path: string, spec: SandboxSpec): SandboxedProcess {
  const { workspace, limits } = spec
  const [program, ...args] = spec.command
  const child = spawnProcess(program, args, {
    cwd: workspace.dir,
    env: {
      HOME: workspace.homeDir,
      PATH: path,
      LANG: 'C.UTF-8',
      // The tree's own `.git` names the mirror's place in a box.
      GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects,
      ...spec.env,
    },
    stdin: spec.stdin,
    user: workspace.owner,
  })
  let reason: SandboxEnd = 'itself'
  let isOver = false
  let ending: Promise<void> | undefined
  const end = (why: SandboxEnd): void => {
    if (isOver) return
    if (reason === 'itself') reason = why
    ending ??= killTree(child.pid, path)
  }
  const watch = watchLimits(limits, () => child.pid, end)
  const exited = child.exited.then(async (exit) => {
    watch.stop()
    isOver = true
    await ending
    // What it left running in its group was meant to end with it.
    child.signalGroup('SIGKILL')
    return { ...exit, reason }
  })
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    interrupt: () => {
      if (!isOver) child.signalGroup('SIGINT')
    },
    kill: () => end('killed'),
  }
}

/** Ends a process and its descendants, as `ps` tells them: also those in groups and sessions of their own, while their parents live. */
async function killTree(root: number, path: string): Promise<void> {
  // Stopped, it starts nothing new while we look.
  signalProcess(root, 'SIGSTOP')
  const listed = await run('ps', ['-A', '-o', 'pid=,ppid='], {
    env: { PATH: path },
    timeoutMs: 5_000,
    maxOutputBytes: 4 * 1024 * 1024,
  }).catch(() => undefined)
  const parents = [...(listed?.stdout.toString('utf8') ?? '').matchAll(/(\d+) +(\d+)/g)]
  const found = [root]
  for (const parent of found)
    for (const [, pid, ppid] of parents) if (Number(ppid) === parent) found.push(Number(pid))
  signalProcess(-root, 'SIGKILL')
  for (const pid of found) signalProcess(pid, 'SIGKILL')
}
