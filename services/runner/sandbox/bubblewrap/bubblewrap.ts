/** The sandbox with bubblewrap. It has its own user, process tree, network and file system. Nothing of it is left after its end. */
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { run, signalProcess, spawnProcess, type SpawnedProcess } from '#platform/childProcess.ts'
import { gitArguments, gitEnvironment, passedThrough, type Git } from '../../workspace/git/git.ts'
import { mirrorObjectsInSandbox } from '../../workspace/workspaceGit.ts'
import type { SandboxUser, Workspace } from '../../workspace/workspace.ts'
import {
  bubblewrapArguments,
  type BubblewrapPlan,
  type HostSystem,
  type SandboxIdentity,
} from './arguments.ts'
import {
  accountFiles,
  sandboxPaths,
  sandboxSearchPath,
  environmentOf,
  checkedBind,
  commandEnvironment,
  gitLimits,
} from '../layout.ts'
import type { SandboxGroup, ControlGroups } from './controlGroups.ts'
import { withDescriptorsClosed } from './hostPaths.ts'
import type { FoundToolchains } from './toolchains.ts'
import { launcher, launchWords, nulEnded } from './launcher.ts'
import { programsIn } from './programs.ts'
import { listeningPorts } from '../listeningPorts.ts'
import { watchLimits } from '../watchLimits.ts'
import type {
  Bind,
  ReservedSandbox,
  ReservedSpec,
  Sandbox,
  SandboxedProcess,
  SandboxEnd,
  SandboxExit,
  SandboxSpec,
} from '../port.ts'
import { freeze, thaw, type Known } from './stopTree.ts'
import { birthOf, fewProcesses } from '../processTree.ts'

export interface BubblewrapOptions {
  /** The path of `bwrap`. */
  readonly program: string
  readonly system: HostSystem
  /** The toolchains of the host that commands can use, as found by `findToolchains`. git, which has a sandbox of its own, does not get them. */
  readonly toolchains: Pick<FoundToolchains, 'system' | 'env'>
  /** Descriptors that this process was started with and must not pass on, as found by `inheritedDescriptors`. */
  readonly inherited: readonly number[]
  /** The control groups in which the kernel counts the memory of sandboxes; `undefined` when memory is counted by looking at processes. */
  readonly groups: ControlGroups | undefined
  /**
   * The filters of system calls: one for sandboxes whose memory the kernel counts, and one for sandboxes whose memory is counted by looking at
   * processes; `undefined` when this machine supports no filters.
   */
  readonly filters: Readonly<Record<'kernel' | 'processes', Buffer>> | undefined
  /** The path or name of git inside the sandbox, which only has the system's programs. */
  readonly gitProgram: string
}

export function bubblewrap(options: BubblewrapOptions): Sandbox {
  return {
    kind: 'bubblewrap',
    hostPrograms: options.toolchains.env,
    run(spec) {
      const inputs = inputsOf(options, spec)
      return runIn(options, spawnSandbox(options, spec), spec, inputs)
    },
    reserve: (spec) => reserveSandbox(options, spec),
    paths: () => sandboxPaths,
    seenAs: ({ target }) => target,
    gitFor: (workspace) => sandboxedGit(options, workspace),
  }
}

interface SpawnedSandbox {
  readonly child: SpawnedProcess
  /** Settles when the sandbox is in a control group, or when it cannot get one. This takes some 10 ms. */
  readonly holding: Promise<SandboxGroup | undefined>
}

/** Starts bubblewrap, which then waits for its arguments. */
function spawnSandbox(
  options: BubblewrapOptions,
  { workspace, stdin, limits }: ReservedSpec,
): SpawnedSandbox {
  const identity = commandIdentity(workspace)
  const files = madeFiles(identity, options.toolchains.system).length
  // bubblewrap's own environment is empty, because /proc/1/environ shows it inside. Arguments go through a pipe, so that no list of processes
  // contains them.
  const [program, ...args] = commandLine(options, identity, ['--info-fd', '6'], firstFile + files)
  const child = spawnProcess(program, args, { env: {}, stdin, extraPipes: 4 + files })
  return { child, holding: holdInGroup(options, child.pid, limits) }
}

function reserveSandbox(options: BubblewrapOptions, reserved: ReservedSpec): ReservedSandbox {
  const spawned = spawnSandbox(options, reserved)
  return {
    run(rest) {
      const spec = { ...reserved, ...rest }
      return runIn(options, spawned, spec, inputsOf(options, spec))
    },
    async close() {
      spawned.child.signalGroup('SIGKILL')
      const [group] = await Promise.all([spawned.holding, spawned.child.exited])
      await group?.remove()
    },
  }
}

/** The data that bubblewrap and the launcher read from their pipes. */
interface SandboxInputs {
  readonly making: string
  readonly words: string
  readonly files: readonly string[]
}

/** What bubblewrap and the launcher need to start this sandbox. Throws `RangeError` if the spec cannot be met. */
function inputsOf({ toolchains }: BubblewrapOptions, spec: SandboxSpec): SandboxInputs {
  const { workspace, limits } = spec
  const { system, env } = toolchains
  const identity = commandIdentity(workspace)
  const files = madeFiles(identity, system)
  const plan: BubblewrapPlan = {
    system,
    identity,
    readOnly: [
      { source: workspace.mirrorObjects, target: mirrorObjectsInSandbox },
      ...[...spec.readOnly, ...spec.sockets].map(checkedBind),
    ],
    writable: [
      { source: workspace.dir, target: sandboxPaths.tree },
      { source: workspace.homeDir, target: sandboxPaths.home },
    ],
    files: files.map(({ target }, index) => ({ target, descriptor: firstFile + index })),
    tmpBytes: temporaryBytes(limits.memoryBytes),
  }
  const words = launchWords({
    limits,
    startIn: sandboxPaths.tree,
    env: environmentOf(spec.env, { ...commandEnvironment, ...env }),
    command: spec.command,
  })
  return { making: nulEnded(bubblewrapArguments(plan)), words, files: files.map(({ content }) => content) }
}

function runIn(
  { filters, inherited, toolchains }: BubblewrapOptions,
  { child, holding }: SpawnedSandbox,
  { workspace, limits, helperCount = 0 }: SandboxSpec,
  { making, words, files }: SandboxInputs,
): SandboxedProcess {
  const [argumentPipe, wordPipe, filterPipe, infoPipe, ...filePipes] = child.pipes
  // bubblewrap waits for its filter and its arguments. They are sent only once the sandbox is in its control group, so that everything that
  // bubblewrap starts is counted.
  let group: SandboxGroup | undefined
  const begin = async (): Promise<void> => {
    group = await holding
    filterPipe?.end(filters?.[group ? 'kernel' : 'processes'])
    argumentPipe?.end(making)
  }
  const begun = begin()
  wordPipe?.end(words)
  filePipes.forEach((pipe, index) => pipe.end(files[index]))

  let reason: SandboxEnd = 'itself'
  let isOver = false
  let first: { readonly pid: number; readonly birth: string | undefined } | undefined
  let isInterrupted = false
  const interrupt = (): void => {
    isInterrupted = true
    if (first && !isOver) signalProcess(-first.pid, 'SIGINT')
  }
  const end = (why: SandboxEnd): void => {
    if (isOver) return
    if (reason === 'itself') reason = why
    // When the first process of the sandbox ends, the kernel ends all others in the sandbox, and bubblewrap ends too.
    if (first) signalProcess(first.pid, 'SIGKILL')
    else child.signalGroup('SIGKILL')
  }
  const learnFirst = async (): Promise<void> => {
    const pid = await firstPid(infoPipe)
    if (pid === undefined) return
    first = { pid, birth: await birthOf(pid) }
    if (reason !== 'itself') end(reason)
    if (isInterrupted) interrupt()
  }
  const firstLearned = learnFirst()
  const staying = firstLearned.then(() => (first ? firstOnes(first.pid, 1 + helperCount, () => isOver) : []))
  const programs = programsIn({
    identity: commandIdentity(workspace),
    limits,
    inherited,
    environment: { ...commandEnvironment, ...toolchains.env },
    enter: () => staying.then(() => (isOver ? undefined : first)),
    filter: () => filters?.[group ? 'kernel' : 'processes'],
    group: () => group,
    endSandbox: () => end('killed'),
    // A process whose keeper (sandbox/programKeeper.ts) was ended becomes a child of the first process. If the sandbox is frozen, freezing it again
    // ends this process.
    onLost: () => freezing.again(),
  })
  const roots = () => [...(first ? [first.pid] : []), ...programs.keepers()]
  const watch = watchLimits(limits, { roots, counted: async () => group?.counted() ?? 'unknown' }, end)
  const freezing = freezer({
    settled: staying.then((known) => ({ root: first?.pid, staying: known })),
    isOver: () => isOver,
    end: () => end('killed'),
  })
  const exited = child.exited.then(async (exit): Promise<SandboxExit> => {
    watch.stop()
    await Promise.all([firstLearned, begun])
    if (first) await untilGone(first.pid, first.birth)
    isOver = true
    await programs.ended()
    // The kernel may have ended the sandbox because of its memory before the next check.
    if (reason === 'itself' && (await group?.counted()) === 'exceeded') reason = 'memory_limit'
    void group?.remove()
    return { ...exit, reason }
  })
  return {
    ...streamsOf(child),
    exited,
    interrupt,
    kill: () => end('killed'),
    settled: staying.then(() => undefined),
    exec: programs.exec,
    programs: programs.keepers,
    listening: async () => (first ? listeningPorts(first.pid, roots()) : []),
    freeze: () => freezing.freeze(exited),
    thaw: freezing.thaw,
  }
}

interface Freezable {
  readonly settled: Promise<{ readonly root: number | undefined; readonly staying: readonly Known[] }>
  readonly isOver: () => boolean
  readonly end: () => void
}

function freezer({ settled, isOver, end }: Freezable) {
  let isFrozen = false
  let known: readonly Known[] = []
  void settled.then(({ staying }) => (known = staying))
  const freezeNow = async (): Promise<boolean> => {
    const { root, staying } = await settled
    if (root !== undefined && staying.length > 0 && (await freeze(root, staying))) return true
    end()
    return false
  }
  return {
    async freeze(exited: Promise<unknown>): Promise<'frozen' | 'ended'> {
      isFrozen = true
      if (await freezeNow()) return 'frozen'
      await exited
      return 'ended'
    },
    /** If the sandbox is frozen, freezes it again. This ends the processes that have come below the first process since the last freeze. */
    again(): void {
      if (isFrozen && !isOver()) void freezeNow()
    },
    thaw(): void {
      isFrozen = false
      thaw(known)
    },
  }
}

function streamsOf({
  pid,
  stdin,
  stdout,
  stderr,
}: SpawnedProcess): Pick<SandboxedProcess, 'pid' | 'stdin' | 'stdout' | 'stderr'> {
  return { pid, stdin, stdout, stderr }
}

/** Puts the sandbox into a control group. The group's limit covers the sandbox's memory and its two temporary folders. */
async function holdInGroup(
  { groups }: BubblewrapOptions,
  pid: number,
  { memoryBytes, processes }: SandboxSpec['limits'],
): Promise<SandboxGroup | undefined> {
  const all = memoryBytes + 2 * temporaryBytes(memoryBytes)
  return groups?.hold(pid, { memoryBytes: all, processes })
}

/** The size limit, in bytes, of each of the two temporary folders of a sandbox. */
const temporaryBytes = (memoryBytes: number): number => Math.floor(memoryBytes / 4)

/**
 * git in a separate sandbox. An agent may have planted files, or may change them while git reads. But no file can lead git outside of the agent's own
 * tree.
 */
function sandboxedGit(options: BubblewrapOptions, workspace: Workspace): Git {
  const { system, gitProgram } = options
  const identity: SandboxIdentity = workspace.owner
    ? { kind: 'reader' }
    : { kind: 'user_namespace', uid: 0, gid: 0 }
  const atItsPlace = (path: string): Bind => ({ source: path, target: path })
  return (call) => {
    const plan: BubblewrapPlan = {
      system,
      identity,
      readOnly: [workspace.mirrorDir, workspace.dir].map(atItsPlace),
      writable: [atItsPlace(workspace.privateGitDir)],
      files: [],
      tmpBytes: 64 * 1024 * 1024,
    }
    const words = launchWords({
      limits: gitLimits,
      startIn: '/',
      env: gitEnvironment(call, sandboxSearchPath),
      command: [gitProgram, ...gitArguments(call)],
    })
    const [program, ...args] = commandLine(options, identity, [], 6)
    return run(program, args, {
      env: {},
      extraInputs: [nulEnded(bubblewrapArguments(plan)), words, options.filters?.processes ?? ''],
      timeoutMs: call.timeoutMs ?? 60_000,
      maxOutputBytes: call.maxOutputBytes ?? 16 * 1024 * 1024,
      ...passedThrough(call),
    })
  }
}

/**
 * The command line of bubblewrap. bubblewrap reads its arguments from descriptor 3, and from descriptor 5 the filter, which it loads last. The
 * launcher reads its words from descriptor 4. bubblewrap does not close inherited descriptors; the descriptors below `firstFree` are those that this
 * server opens for the sandbox.
 */
function commandLine(
  { program, inherited, filters }: BubblewrapOptions,
  identity: SandboxIdentity,
  more: readonly string[],
  firstFree: number,
): readonly [string, ...string[]] {
  const filter = filters ? ['--seccomp', '5'] : []
  const args = ['--args', '3', ...filter, ...more, '--', ...launcher(identity, 4)]
  return withDescriptorsClosed(inherited, firstFree, [program, ...args])
}

/** The descriptor of the first file. The lower ones are for the arguments, the launcher's words, the filter and bubblewrap's report. */
const firstFile = 7

/** The user inside a user namespace. The number is arbitrary, but not 0, because programs behave differently for root. */
const namespaceUser: SandboxUser = { uid: 27_182, gid: 27_182 }

function commandIdentity({ owner }: Workspace): SandboxIdentity {
  return owner ? { kind: 'host_user', ...owner } : { kind: 'user_namespace', ...namespaceUser }
}

function madeFiles(
  identity: SandboxIdentity,
  { emptyFiles }: HostSystem,
): readonly { readonly target: string; readonly content: string }[] {
  const accounts = accountFiles(identity.kind === 'reader' ? namespaceUser : identity)
  return [
    ...Object.entries(accounts).map(([target, content]) => ({ target, content })),
    ...emptyFiles.map((target) => ({ target, content: '' })),
    { target: '/etc/hosts', content: '127.0.0.1 localhost flightdeck\n::1 localhost\n' },
  ]
}

/** The id, on the host, of the sandbox's first process. bubblewrap reports it before it starts anything. */
async function firstPid(info: Duplex | undefined): Promise<number | undefined> {
  const json = info ? await text(info).catch(() => '') : ''
  const found = /"child-pid": *(\d+)/.exec(json)
  return found ? Number(found[1]) : undefined
}

/** The processes below the sandbox's first process, as soon as there are `count` of them; none if that takes longer than 10 s. */
async function firstOnes(root: number, count: number, isOver: () => boolean): Promise<readonly Known[]> {
  for (let waitedMs = 0; waitedMs < 10_000 && !isOver(); waitedMs += 2) {
    const [, ...below] = fewProcesses(root)
    if (below.length >= count) {
      const found = await Promise.all(below.map(async (pid) => ({ pid, birth: await birthOf(pid) })))
      return found.flatMap(({ pid, birth }) => (birth === undefined ? [] : [{ pid, birth }]))
    }
    await delay(2)
  }
  return []
}

/** Waits at most 10 s until the kernel has removed the sandbox, which usually takes milliseconds. */
async function untilGone(pid: number, birth: string | undefined): Promise<void> {
  if (birth === undefined) return
  for (let waitedMs = 0; waitedMs < 10_000 && (await birthOf(pid)) === birth; waitedMs += 5) await delay(5)
}
