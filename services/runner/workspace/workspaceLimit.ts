/**
 * A limit by the kernel on what agents and commands write to a workspace: a project quota, if the file system of
 * the workspaces supports it. If not, workspaces are only measured.
 *
 * The project's number is that of the task's sandbox user: no other task here has it, and nothing else assigns
 * numbers of that range. Tree, homes and everything created in them belong to the project. What the server writes
 * beside them does not, so that it can be written even when a workspace is full. The task's folder has the number, too,
 * which an existing workspace gets last, but does not pass it on to new files.
 */
import { chown, lstat, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CannotStart, run, type HostUser, type RunOptions } from '#platform/childProcess.ts'
import { removeFolder } from './agentFiles.ts'
import { freeBytes, inGigabytes } from './diskWatch.ts'
import { ifAbsent } from '#platform/files.ts'
import { trialUser, type SandboxUsers } from './sandboxUsers.ts'
import { taskFolder } from './workspace.ts'

export interface WorkspaceLimit {
  /** Sentences for the operator about how workspaces are limited. */
  readonly says: string
  /**
   * Limits folders of a task. The user of the task must be able to write to them, and they must be empty or already limited. If limiting fails, the
   * folders are only measured.
   */
  hold(taskId: string, owner: HostUser, folders: readonly string[]): Promise<void>
  held(): readonly string[]
  /** Removes the limit of a task if the task's folder no longer exists. The task's lock must be held. */
  liftIfGone(taskId: string): Promise<void>
}

export interface WorkspaceLimitOptions {
  /** The folder that contains all workspaces. */
  readonly root: string
  /** The `PATH` with which `setquota`, `chattr` and the other programs run. */
  readonly path: string
  /** How many bytes a workspace may use, as measured. */
  readonly workspaceBytes: number
  /** The users of tasks; `undefined` when tasks have no separate users. */
  readonly users: SandboxUsers | undefined
  /** The path of the list of mounts; /proc/self/mountinfo by default. */
  readonly mountinfoFile?: string
  readonly onFault: (fault: unknown) => void
}

interface Quota {
  readonly mount: string
  /** Runs a program and returns its output. If the program fails, throws an error with the program's message. */
  call(file: string, args: readonly string[], options?: Partial<RunOptions>): Promise<string>
}

/**
 * The kernel's limit as a multiple of the measured limit. It is higher, so that a measurement usually ends the run, with a reason. The kernel only
 * stops writes that were not measured yet.
 */
const kernelLimitFactor = 1.02
/**
 * The size of a block. A workspace may have one file for each block of its limit: more files, unless empty, could not fit anyway. Empty ones count
 * too.
 */
const bytesPerFile = 4_096
const [trialBytes, trialNeedsBytes] = [1024 ** 2, 16 * 1024 ** 2]

/** The limit of a machine where workspaces are only measured, because the kernel sets no limit; `why` is the reason. */
export const measured = (workspaceBytes: number, why: string): WorkspaceLimit => ({
  says: `Workspaces are measured: ${inGigabytes(workspaceBytes)} each. The kernel sets no limit: ${why}.`,
  hold: async () => undefined,
  held: () => [],
  liftIfGone: async () => undefined,
})

/** Finds out by a trial whether project quotas work here, and limits existing workspaces. Nothing may run in them yet. Never throws. */
export async function openWorkspaceLimit(options: WorkspaceLimitOptions): Promise<WorkspaceLimit> {
  const { root, path, workspaceBytes, users, mountinfoFile = '/proc/self/mountinfo' } = options
  try {
    const tasks = join(root, 'tasks')
    await mkdir(tasks, { recursive: true, mode: 0o711 })
    const mount = projectQuotaMount(await readFile(mountinfoFile, 'utf8'), (await stat(tasks)).dev)
    if (mount === undefined)
      return measured(workspaceBytes, `the file system of ${tasks} is not mounted with prjquota`)
    if (!users) return measured(workspaceBytes, 'tasks have no users of their own here')
    const quota = { mount, call: caller(path) }
    const fault = await trial(quota, tasks, path)
    if (fault !== undefined) return measured(workspaceBytes, fault)
    return await openQuota({ ...options, users }, quota)
  } catch (fault) {
    const isMissing = fault instanceof CannotStart
    return measured(workspaceBytes, isMissing ? `${fault.file} is not installed` : oneLine(String(fault)))
  }
}

/** The mount point of a device that has project quotas enabled, according to /proc/self/mountinfo. Has no side effects. */
export function projectQuotaMount(mountinfo: string, dev: number): string | undefined {
  // Decodes the device number, as the kernel encodes it for programs.
  const device = `${(dev >>> 8) & 0xfff}:${(dev & 0xff) | ((dev >>> 12) & 0xf_ff00)}`
  for (const line of mountinfo.split('\n')) {
    const [, , number, , point, ...rest] = line.split(' ')
    const options = rest.slice(rest.indexOf('-') + 3).join(' ')
    if (number === device && point !== undefined && options.split(',').includes('prjquota'))
      return point.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)))
  }
  return undefined
}

/**
 * Tries a small limit on a folder by exceeding it as an unprivileged user, since root may be exempt. Returns the reason if the limit does not hold,
 * or cannot be tried.
 */
async function trial({ mount, call }: Quota, tasks: string, path: string): Promise<string | undefined> {
  if (freeBytes(tasks) < trialNeedsBytes) return 'the disk is too full to try one'
  const user = trialUser()
  const [id, folder] = [String(user.uid), join(tasks, '.quota-trial')]
  await removeFolder(folder, path)
  await mkdir(folder, { mode: 0o700 })
  try {
    await call('chattr', ['-p', id, '+P', folder])
    await call('setquota', ['-P', id, '0', String(trialBytes / 1024), '0', '0', mount])
    await chown(folder, user.uid, user.gid)
    const args = ['if=/dev/zero', 'of=file', 'bs=64k', 'count=32']
    const result = await call('dd', args, { cwd: folder, user }).catch(() => 'refused')
    const { size = 0 } = (await lstat(join(folder, 'file')).catch(ifAbsent)) ?? {}
    return result === 'refused' && size > 0 && size <= trialBytes ? undefined : 'it did not hold in a trial'
  } finally {
    await removeFolder(folder, path)
    await call('setquota', ['-P', id, '0', '0', '0', '0', mount])
  }
}

async function openQuota(
  { root, users, workspaceBytes, onFault }: WorkspaceLimitOptions & { readonly users: SandboxUsers },
  { mount, call }: Quota,
): Promise<WorkspaceLimit> {
  const bytes = Math.ceil(workspaceBytes * kernelLimitFactor)
  const limits = ['0', String(Math.ceil(bytes / 1024)), '0', String(Math.ceil(bytes / bytesPerFile))]
  const ids = new Map<string, number>()

  /**
   * Claims the number `uid` for a task. Returns false when another task has this number, as in workspaces of earlier versions. The task then has no
   * limit.
   */
  function claim(taskId: string, uid: number): boolean {
    if ([...ids].some(([other, id]) => id === uid && other !== taskId)) return false
    ids.set(taskId, uid)
    return true
  }

  /** Puts all files of a workspace that was made without a limit into the quota project `id`. */
  async function takeIn(folder: string, id: string): Promise<void> {
    const names = (await readdir(folder)).filter((name) => ['tree', 'home', 'command-home'].includes(name))
    const folders = names.map((name) => join(folder, name))
    if (folders.length === 0) return
    const whole = { timeoutMs: 300_000 }
    // Fails for links and similar files, which use almost no space.
    await call('chattr', ['-R', '-f', '-p', id, ...folders], whole).catch(() => undefined)
    await call('find', [...folders, '-type', 'd', '-exec', 'chattr', '+P', '{}', '+'], whole)
    await call('chattr', ['-p', id, folder])
  }

  const there = [...(await users.userIds())].flatMap(([taskId, uid]) =>
    claim(taskId, uid) ? [{ folder: taskFolder(root, taskId), id: String(uid) }] : [],
  )
  if (there.length > 0) {
    const assignedProjects = projectsOf(await call('lsattr', ['-p', join(root, 'tasks')]))
    for (const { folder, id } of there)
      if (!assignedProjects.has(`${id} ${folder}`)) await takeIn(folder, id).catch(onFault)
    const input = there.map(({ id }) => `${[id, ...limits].join(' ')}\n`).join('')
    await call('setquota', ['-P', '-b', mount], { input })
  }

  return {
    says: `Workspaces have a project quota of ${inGigabytes(bytes)} each, and are measured too: ${inGigabytes(workspaceBytes)} each.`,
    async hold(taskId, owner, folders) {
      if (!claim(taskId, owner.uid)) return
      const id = String(owner.uid)
      await Promise.all([
        call('chattr', ['-p', id, '+P', ...folders]),
        call('chattr', ['-p', id, taskFolder(root, taskId)]),
        call('setquota', ['-P', id, ...limits, mount]),
      ]).catch(onFault)
    },
    held: () => [...ids.keys()],
    async liftIfGone(taskId) {
      const id = ids.get(taskId)
      if (id === undefined || (await lstat(taskFolder(root, taskId)).catch(() => undefined))) return
      ids.delete(taskId)
      await call('setquota', ['-P', String(id), '0', '0', '0', '0', mount]).catch(onFault)
    },
  }
}

/** The lines of `lsattr -p`, each with the number of a project and a folder, separated by one space. Has no side effects. */
export const projectsOf = (listing: string): ReadonlySet<string> =>
  new Set(listing.split('\n').map((line) => line.trim().replace(/ +\S+ +/, ' ')))

function caller(path: string): Quota['call'] {
  const usual = {
    env: { PATH: path, LC_ALL: 'C.UTF-8' },
    timeoutMs: 5_000,
    maxOutputBytes: 4 * 1024 ** 2,
  }
  return async (file, args, options = {}) => {
    const { stdout, stderr, code, endedBy } = await run(file, args, { ...usual, ...options })
    if (endedBy === 'itself' && code === 0) return stdout.toString('utf8')
    throw new Error(`${file} failed: ${oneLine(stderr.toString('utf8')) || endedBy}`)
  }
}

const oneLine = (text: string): string => text.trim().replace(/\s+/g, ' ').slice(0, 300)
