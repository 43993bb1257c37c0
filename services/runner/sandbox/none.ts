/**
 * No sandbox: commands run as plain children, with the file system and the network of the server. Processes that a command detaches may outlive the
 * command, and even the turn of an agent if they remove our mark from their environment. Only for operators who ask for this by name, on a machine
 * where an agent may do anything.
 */
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { CannotStart, run, signalProcess, spawnProcess } from '#platform/childProcess.ts'
import type { Git } from '../workspace/git/git.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { launchWords, nicerThanServer } from './bubblewrap/launcher.ts'
import { canKeep, keeperWords, plainKeeperScript } from './programKeeper.ts'
import { listeningPorts } from './listeningPorts.ts'
import { follow, maxPrograms, type Program, type ProgramSpec } from './program.ts'
import { searchPathOf } from './layout.ts'
import { watchLimits } from './watchLimits.ts'
import type { Sandbox, SandboxedProcess, SandboxEnd, SandboxSpec } from './port.ts'

export interface NoSandboxOptions {
  /** The `PATH` with which commands run. */
  readonly path: string
  readonly git: Git
}

export function noSandbox({ path, git }: NoSandboxOptions): Sandbox {
  return {
    kind: 'none',
    hostPrograms: { PATH: path },
    run: (spec) => startPlain(path, spec),
    paths: ({ dir, homeDir }) => ({ tree: dir, home: homeDir }),
    seenAs: ({ source }) => source,
    gitFor: () => git,
  }
}

function startPlain(path: string, spec: SandboxSpec): SandboxedProcess {
  const { workspace, limits } = spec
  const [program, ...args] = spec.command
  const mark = `${markName}=${randomUUID()}`
  const child = spawnProcess(program, args, {
    cwd: workspace.dir,
    env: {
      HOME: workspace.homeDir,
      LANG: 'C.UTF-8',
      // The tree's own `.git` names the mirror by its path in a sandbox. Without a sandbox, this path does not exist.
      GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects,
      [markName]: mark.slice(markName.length + 1),
      ...spec.env,
      PATH: searchPathOf(spec.env['PATH'], { tree: workspace.dir, home: workspace.homeDir }, path),
    },
    stdin: spec.stdin,
    user: workspace.owner,
  })
  letServerGoFirst(child.pid)
  let reason: SandboxEnd = 'itself'
  let isOver = false
  let ending: Promise<void> | undefined
  const end = (why: SandboxEnd): void => {
    if (isOver) return
    if (reason === 'itself') reason = why
    ending ??= killTree(child.pid, path)
  }
  const programs = new Map<Program, number>()
  const keepers = () => [...programs.values()]
  const watch = watchLimits(limits, { roots: () => [child.pid, ...keepers()] }, end)
  const exited = child.exited.then(async (exit) => {
    watch.stop()
    isOver = true
    await ending
    // Ends the processes that the command left in its process group.
    child.signalGroup('SIGKILL')
    for (const program of programs.keys()) program.kill()
    await Promise.all([...programs.keys()].map((program) => program.exited))
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
    settled: Promise.resolve(),
    async exec(asked) {
      if (isOver || programs.size >= maxPrograms)
        throw new CannotStart(asked.command[0], new Error(isOver ? 'it has ended' : 'too many others run'))
      const { program, keeper } = startKept(path, spec.workspace, asked, () => end('killed'))
      programs.set(program, keeper)
      void program.exited.then(() => programs.delete(program))
      return program
    },
    programs: keepers,
    listening: () => listeningPorts(child.pid, [child.pid, ...keepers()], true),
    async freeze() {
      if (!isOver && (await endOthers(child.pid, { mark, path }))) return 'frozen'
      end('killed')
      await exited
      return 'ended'
    },
    thaw: () => void signalProcess(child.pid, 'SIGCONT'),
  }
}

/** Starts a program beside the command. Throws `CannotStart`. */
function startKept(
  path: string,
  { dir, homeDir, mirrorObjects, owner }: Workspace,
  spec: ProgramSpec,
  endAll: () => void,
): { readonly program: Program; readonly keeper: number } {
  if (!canKeep) throw new CannotStart(spec.command[0], new Error('that needs Linux'))
  const env = {
    HOME: homeDir,
    LANG: 'C.UTF-8',
    GIT_ALTERNATE_OBJECT_DIRECTORIES: mirrorObjects,
    ...spec.env,
    PATH: searchPathOf(spec.env['PATH'], { tree: dir, home: homeDir }, path),
  }
  const noLimits = { processes: 0, fileSizeBytes: 0, memoryBytes: 0 }
  const words = launchWords({ limits: noLimits, startIn: dir, env, command: keeperWords(spec) })
  const child = spawnProcess('perl', ['-e', plainKeeperScript, '3', '4'], {
    env: { PATH: path },
    stdin: 'pipe',
    extraPipes: 2,
    user: owner,
  })
  letServerGoFirst(child.pid)
  const [wordPipe, control] = child.pipes
  if (!wordPipe || !control) throw new CannotStart('perl')
  wordPipe.end(words)
  let isOver = false
  void child.exited.then(() => (isOver = true))
  const keeper = async () => (isOver ? undefined : child.pid)
  return { program: follow({ child, control, keeper, endSandbox: endAll }), keeper: child.pid }
}

/** Lowers the priority of a command, as in a sandbox. Everything that the command starts inherits this priority. */
function letServerGoFirst(pid: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + nicerThanServer, 19))
  } catch {
    // The process has ended.
  }
}

/**
 * The name of an environment variable that a command passes to all processes it starts. The variable identifies processes that have left the
 * command's family, unless they removed it.
 */
const markName = 'FLIGHTDECK_RUN'
const endTimeoutMs = 5_000

/**
 * Stops the process `root` and ends everything else that it started, as far as this can be found. Returns `false` when some of it cannot be ended.
 */
async function endOthers(
  root: number,
  { mark, path }: { readonly mark: string; readonly path: string },
): Promise<boolean> {
  signalProcess(root, 'SIGSTOP')
  for (const end = performance.now() + endTimeoutMs; performance.now() < end; await delay(5)) {
    const listed = await listProcesses(path)
    if (!listed.some(({ pid }) => pid === root)) return false
    const marked = await markedWith(mark)
    const ofGroup = listed.filter(({ pid, group }) => group === root || marked.has(pid))
    const others = [...new Set([...familyOf(root, listed), ...ofGroup.map(({ pid }) => pid)])].filter(
      (pid) => pid !== root,
    )
    if (others.length === 0) return true
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) for (const pid of others) signalProcess(pid, signal)
  }
  return false
}

/** The processes that have `mark` in their environment. Only Linux shows the environment of other processes. */
async function markedWith(mark: string): Promise<ReadonlySet<number>> {
  const pids = (await readdir('/proc').catch(() => [])).map(Number).filter(Number.isSafeInteger)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
      return environment.split('\0').includes(mark) ? [pid] : []
    }),
  )
  return new Set(found.flat())
}

/** Ends a process and its descendants according to `ps`. Descendants in other groups and sessions are found too, as long as their parents live. */
async function killTree(root: number, path: string): Promise<void> {
  let found: readonly number[] = [root]
  const end = performance.now() + endTimeoutMs
  // Stopped processes cannot start others: when a search finds no new processes, all have been found.
  for (let stopped = 0; stopped < found.length && performance.now() < end;) {
    for (const pid of found.slice(stopped)) signalProcess(pid, 'SIGSTOP')
    stopped = found.length
    const listed = await listProcesses(path)
    found = [...new Set([...found, ...found.flatMap((pid) => familyOf(pid, listed))])]
  }
  signalProcess(-root, 'SIGKILL')
  for (const pid of found) signalProcess(pid, 'SIGKILL')
}

interface Listed {
  readonly pid: number
  readonly parent: number
  readonly group: number
}

/** The living processes according to `ps`. */
async function listProcesses(path: string): Promise<readonly Listed[]> {
  const listed = await run('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat='], {
    env: { PATH: path },
    timeoutMs: 5_000,
    maxOutputBytes: 4 * 1024 * 1024,
  }).catch(() => undefined)
  const lines = (listed?.stdout.toString('utf8') ?? '').matchAll(/(\d+) +(\d+) +(\d+) +([^Z\s])/g)
  return [...lines].map(([, pid, parent, group]) => ({
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
  }))
}

/** A process and its descendants, parents first. */
function familyOf(root: number, listed: readonly Listed[]): readonly number[] {
  const found = [root]
  for (const member of found) for (const { pid, parent } of listed) if (parent === member) found.push(pid)
  return found
}
