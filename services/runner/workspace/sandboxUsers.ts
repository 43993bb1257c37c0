/**
 * The users that sandboxes run as, one for each task. So limits that the kernel counts by user apply to one task alone, and no task's user owns the
 * files of another task. The users need no account on the host.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HostUser } from '#platform/childProcess.ts'
import { isTaskFolderName } from './names.ts'

export interface SandboxUsers {
  /**
   * The host user that runs a task's sandboxes, the same for each call. It is the owner of the task's home or, without a home, a user that no other
   * task has.
   */
  userOf(taskId: string): Promise<HostUser>
  /** The number of each task's user, by the id of the task. */
  userIds(): Promise<ReadonlyMap<string, number>>
}

/** A range of `count` user ids, beginning with `first`. */
export interface IdRange {
  readonly first: number
  readonly count: number
}

/**
 * 268 million ids that nothing else assigns, according to https://systemd.io/UIDS-GIDS. Below them are the ids of accounts, of /etc/subuid (to
 * 600100000) and of systemd's containers (to 1879048191). Above them are the ids of systemd's foreign images (from 2147352576).
 */
const ownRange: IdRange = { first: 1_879_048_192, count: 268_304_384 }
/** The range for a process that has only part of the ids, as in a container with its own user namespace. */
const narrowRange: IdRange = { first: 20_000, count: 40_000 }

/** The user with which the sandbox and the limits of workspaces are tried. This user belongs to no task. */
export function trialUser(): HostUser {
  return userFor(rangeHere().first)
}

/**
 * Opens the users of the workspaces below `root`. The users are read once from the owners of the files: a workspace keeps its user across restarts,
 * even if an older version assigned it.
 */
export function openSandboxUsers(root: string, givenRange?: IdRange): SandboxUsers {
  const users = new Map<string, number>()
  let taken: Promise<{ readonly range: IdRange; readonly ids: Set<number> }> | undefined

  async function read() {
    const ids = new Set(await accountIds())
    // Tasks do not get the first id of the range: it is for trials.
    const { first, count } = givenRange ?? rangeHere()
    const tasks = join(root, 'tasks')
    for (const name of await readdir(tasks).catch(() => [])) {
      if (!isTaskFolderName(name)) continue
      // The owner is read from the task's home, because the home remains when the workspace is evicted.
      const home = await lstat(join(tasks, name, 'home')).catch(() => undefined)
      if (!home || home.uid === 0) continue
      ids.add(home.uid)
      users.set(name, home.uid)
    }
    return { range: { first: first + 1, count: count - 1 }, ids }
  }

  return {
    async userIds() {
      await (taken ??= read())
      return users
    },
    async userOf(taskId) {
      taken ??= read()
      const { range, ids } = await taken
      const known = users.get(taskId)
      if (known !== undefined) return userFor(known)
      const preferred = createHash('sha256').update(taskId).digest().readUInt32BE(0) % range.count
      for (let step = 0; step < range.count; step += 1) {
        const id = range.first + ((preferred + step) % range.count)
        if (ids.has(id)) continue
        ids.add(id)
        users.set(taskId, id)
        return userFor(id)
      }
      throw new Error('There are more workspaces than users for their sandboxes.')
    },
  }
}

const userFor = (id: number): HostUser => ({ uid: id, gid: id })

function rangeHere(): IdRange {
  const maps = ['uid_map', 'gid_map'].map((name) => mapped(`/proc/self/${name}`))
  return maps.every((ranges) => isWithin(ownRange, ranges)) ? ownRange : narrowRange
}

function isWithin({ first, count }: IdRange, ranges: readonly IdRange[]): boolean {
  return ranges.some((range) => first >= range.first && first + count <= range.first + range.count)
}

/** The ids that this user namespace has, according to `file`, a map such as `/proc/self/uid_map`; all ids if the file cannot be read. */
function mapped(file: string): readonly IdRange[] {
  let text = '0 0 4294967295'
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    // A kernel without user namespaces has no maps.
  }
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, count }))
}

/** The ids of users and groups on the host. */
async function accountIds(): Promise<readonly number[]> {
  const files = await Promise.all(
    ['/etc/passwd', '/etc/group'].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  return files.flatMap((text) => text.split('\n').map((line) => Number(line.split(':')[2])))
}
