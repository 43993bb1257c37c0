/** Control groups, cgroups(7). If this process may make groups, the kernel counts the memory of each sandbox. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { SandboxLimits } from '../port.ts'
import { processTree } from '../processTree.ts'

/** The control group of this process, in the hierarchy of groups that counts memory. */
export interface OwnGroup {
  readonly version: 1 | 2
  readonly folder: string
}

/** The state of a control group (cgroup, version 2). */
export interface GroupState {
  readonly folder: string
  /** Whether the group is the root of the machine's hierarchy, which may have processes beside groups. */
  readonly isRoot: boolean
  readonly controllers: readonly string[]
  /** The controllers that are enabled for the subgroups of the group. */
  readonly enabledForSubgroups: readonly string[]
  readonly processes: readonly number[]
}

/** How groups for sandboxes are made: the processes to move first, and the folder in which each sandbox gets a group; or why there can be none. */
export type GroupPlan =
  | { readonly kind: 'use'; readonly base: string; readonly move: readonly number[] }
  | { readonly kind: 'none'; readonly why: string }

/** The name of a subgroup for the server's processes: a group whose subgroups have controllers may not have processes itself. */
const serverName = 'flightdeck-server'
const groupPrefix = 'flightdeck-sandbox-'

/** Parses /proc/self/cgroup and /proc/self/mountinfo. `undefined` when no mounted hierarchy can count memory. Has no side effects. */
export function ownGroup(groups: string, mounts: string): OwnGroup | undefined {
  const lines = groups.split('\n').map((line) => {
    const [, controllers = '', ...path] = line.split(':')
    return { controllers: controllers.split(','), path: path.join(':') }
  })
  // A controller is in one hierarchy only: if version 1 has it, version 2 does not.
  const first = lines.find(({ controllers }) => controllers.includes('memory'))
  const second = lines.find(({ controllers, path }) => controllers.join('') === '' && path.startsWith('/'))
  const found = first ?? second
  if (!found) return undefined
  const version = first ? 1 : 2
  for (const mount of mounts.split('\n')) {
    const [before = '', after = ''] = mount.split(' - ')
    const [, , , root = '', at = ''] = before.split(' ')
    const [type, , options = ''] = after.split(' ')
    const isIt =
      version === 2 ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes('memory')
    const below = root === '/' ? found.path : withinRoot(root, found.path)
    if (isIt && below !== undefined && !below.split('/').includes('..'))
      return { version, folder: join(at, below) }
  }
  return undefined
}

function withinRoot(root: string, path: string): string | undefined {
  return path === root ? '/' : path.startsWith(`${root}/`) ? path.slice(root.length) : undefined
}

/** Plans the groups. `kin` are this process, its ancestors and its descendants. Has no side effects. */
export function planGroups(own: GroupState, kin: ReadonlySet<number>): GroupPlan {
  if (!own.controllers.includes('memory'))
    return { kind: 'none', why: 'the control group of the server does not count memory' }
  // This process is already in the group `serverName`, because its parent or an earlier server has moved into this group.
  if (basename(own.folder) === serverName) return { kind: 'use', base: dirname(own.folder), move: [] }
  if (own.enabledForSubgroups.includes('memory')) return { kind: 'use', base: own.folder, move: [] }
  if (own.isRoot)
    return { kind: 'none', why: 'the server is in the root of all control groups, which is not its own' }
  if (!own.processes.every((pid) => kin.has(pid)))
    return {
      kind: 'none',
      why: 'others are in the control group of the server',
    }
  return { kind: 'use', base: own.folder, move: own.processes }
}

/**
 * The settings that are written into the folder of a sandbox's group, in order. Optional settings do not exist in every kernel. Has no side effects.
 */
export function groupSettings(
  version: OwnGroup['version'],
  { memoryBytes, processes }: Pick<SandboxLimits, 'memoryBytes' | 'processes'>,
): readonly { readonly file: string; readonly content: string; readonly isOptional?: true }[] {
  const bytes = String(memoryBytes)
  return version === 2
    ? [
        { file: 'memory.max', content: bytes },
        { file: 'memory.swap.max', content: '0', isOptional: true },
        { file: 'memory.oom.group', content: '1', isOptional: true },
        // The processes of the sandbox itself, and up to four that start it.
        { file: 'pids.max', content: String(processes + 4), isOptional: true },
      ]
    : [
        { file: 'memory.limit_in_bytes', content: bytes },
        { file: 'memory.memsw.limit_in_bytes', content: bytes, isOptional: true },
      ]
}

/** The names of two files of a group: the one with its limit, and the one with the number of processes that the kernel ended because of the limit. */
const files = {
  1: { limit: 'memory.limit_in_bytes', events: 'memory.oom_control' },
  2: { limit: 'memory.max', events: 'memory.events' },
} as const

/**
 * Whether the sandbox is within its limit, by the kernel's count. `unknown`: there is no control group, or its limit is no longer in force, because
 * somebody else changed or removed it.
 */
export type Counted = 'within' | 'exceeded' | 'unknown'

export interface SandboxGroup {
  counted(): Promise<Counted>
  /** Puts another process under the limits. Rejects when that fails. */
  add(pid: number): Promise<void>
  /** Removes the group. Call it when nothing of the sandbox is left. Never rejects. */
  remove(): Promise<void>
}

export interface ControlGroups {
  /** A sentence for the operator about how memory is counted. */
  readonly says: string
  /** Puts a process, and everything that it will start, under the limits. Never rejects: resolves to `undefined` when that fails. */
  hold(
    pid: number,
    limits: Pick<SandboxLimits, 'memoryBytes' | 'processes'>,
  ): Promise<SandboxGroup | undefined>
}

/** Removes a group's folder by rmdir(2); the kernel removes the files in it. */
type Remove = (folder: string) => Promise<void>

interface GroupPlace {
  readonly base: string
  readonly version: OwnGroup['version']
  readonly remove: Remove
}

/** Prepares groups for sandboxes, and removes the groups that killed servers have left. A string says why there can be none. */
export async function openControlGroups(
  own: OwnGroup | 'look' = 'look',
  remove: Remove = rmdir,
): Promise<ControlGroups | string> {
  const group = own === 'look' ? ownGroup(textNow('/proc/self/cgroup'), textNow('/proc/self/mountinfo')) : own
  if (!group) return 'there are no control groups'
  const { version, folder } = group
  try {
    const base = version === 1 ? folder : await opened(folder)
    if (typeof base !== 'string') return base.why
    await access(base, constants.W_OK)
    const groups: GroupPlace = { base, version, remove }
    await removeLeft(groups)
    const trial = make(groups, { memoryBytes: 1024 ** 3, processes: 64 })
    await remove(trial.folder)
    return controlGroups(groups)
  } catch (fault) {
    return `the server may make no control group (${String(codeOf(fault) ?? fault)})`
  }
}

/**
 * For version 2 of control groups: moves the processes of the server to a subgroup, and makes the kernel count the memory of the groups below
 * `folder`. Returns the folder in which sandboxes get their groups.
 */
async function opened(folder: string): Promise<string | { readonly why: string }> {
  const plan = planGroups(await stateOf(folder), await kin())
  if (plan.kind === 'none') return plan
  if (plan.move.length > 0) {
    const server = join(folder, serverName)
    await access(join(folder, 'cgroup.subtree_control'), constants.W_OK)
    await mkdir(server, { recursive: true })
    for (const pid of plan.move)
      await writeFile(join(server, 'cgroup.procs'), String(pid)).catch((fault: unknown) => {
        // The process has ended in the meantime.
        if (!isCode(fault, 'ESRCH')) throw fault
      })
  }
  const control = join(plan.base, 'cgroup.subtree_control')
  for (const controller of ['memory', 'pids'])
    if (!words(await text(control)).includes(controller))
      await writeFile(control, `+${controller}`).catch((fault: unknown) => {
        if (controller === 'memory') throw fault
      })
  return plan.base
}

async function stateOf(folder: string): Promise<GroupState> {
  const file = (name: string): Promise<string> => text(join(folder, name))
  return {
    folder,
    isRoot: await access(join(folder, 'cgroup.type')).then(
      () => false,
      () => true,
    ),
    controllers: words(await file('cgroup.controllers')),
    enabledForSubgroups: words(await file('cgroup.subtree_control')),
    processes: words(await file('cgroup.procs')).map(Number),
  }
}

async function kin(): Promise<ReadonlySet<number>> {
  const found = new Set(await processTree(process.pid))
  for (let pid = process.ppid; pid > 0 && !found.has(pid);) {
    found.add(pid)
    pid = Number(/^PPid:\s+(\d+)$/m.exec(await text(`/proc/${pid}/status`))?.[1] ?? 0)
  }
  return found
}

/** Removes the groups of servers that no longer run. The kernel does not remove groups that still have processes. */
async function removeLeft({ base, remove }: GroupPlace): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = new RegExp(`^${groupPrefix}(\\d+)-`).exec(name)?.[1]
    if (pid !== undefined && !runs(Number(pid))) await remove(join(base, name)).catch(() => undefined)
  }
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (fault) {
    return isCode(fault, 'EPERM')
  }
}

function controlGroups(groups: GroupPlace): ControlGroups {
  const { version, remove } = groups
  return {
    says: `The memory of a sandbox is counted by the kernel, in a control group of its own (version ${version}).`,
    async hold(pid, limits) {
      try {
        const { folder, limit } = make(groups, limits)
        try {
          await writeFile(join(folder, 'cgroup.procs'), String(pid))
        } catch {
          await remove(folder)
          return undefined
        }
        return {
          async counted() {
            const [now, events] = await Promise.all(
              [files[version].limit, files[version].events].map((name) => text(join(folder, name))),
            )
            if (/^oom_kill [1-9]/m.test(events ?? '')) return 'exceeded'
            return now === limit ? 'within' : 'unknown'
          },
          add: (other) => writeFile(join(folder, 'cgroup.procs'), String(other)),
          remove: () => removed(folder, remove),
        }
      } catch {
        return undefined
      }
    },
  }
}

/** Makes a group. Synchronous, because a sandbox waits for it and each call takes microseconds. Reads back the limit, since the kernel rounds it. */
function make(
  { base, version }: GroupPlace,
  limits: Pick<SandboxLimits, 'memoryBytes' | 'processes'>,
): { readonly folder: string; readonly limit: string } {
  const folder = join(base, `${groupPrefix}${process.pid}-${randomUUID()}`)
  mkdirSync(folder)
  try {
    for (const { file, content, isOptional } of groupSettings(version, limits))
      try {
        writeFileSync(join(folder, file), content)
      } catch (fault) {
        if (isOptional !== true) throw fault
      }
    return { folder, limit: readFileSync(join(folder, files[version].limit), 'utf8') }
  } catch (fault) {
    rmdirSync(folder)
    throw fault
  }
}

/** Removes a group. Tries several times, because a process that has just ended is still in its group for a moment. */
async function removed(folder: string, remove: Remove): Promise<void> {
  for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 20) {
    const isGone = await remove(folder).then(
      () => true,
      (fault: unknown) => !isCode(fault, 'EBUSY'),
    )
    if (isGone) return
    await delay(20)
  }
}

function codeOf(fault: unknown): unknown {
  return fault instanceof Error && 'code' in fault ? fault.code : undefined
}

function isCode(fault: unknown, code: string): boolean {
  return codeOf(fault) === code
}

/** Reads a file in /proc; empty when that fails. Synchronous, because the kernel has such files in memory. */
function textNow(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

async function text(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}

function words(listed: string): readonly string[] {
  return listed.split(/\s+/).filter(Boolean)
}
