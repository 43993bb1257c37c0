/**
 * Where tests keep their temporary files: in memory if there is room, because thousands of small files and their syncs are most of the work of a slow
 * disk.
 */
import { readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const inMemory = '/dev/shm'
const roomBytes = 4 * 1024 ** 3

/**
 * The folder for temporary folders: the one that the shell names, else one in memory that allows executables and has 4 GB left, else the system's
 * own.
 * @param {NodeJS.ProcessEnv} env
 */
export function scratchRoot(env) {
  return env.TMPDIR || (mayHold(inMemory) ? inMemory : tmpdir())
}

/** @param {string} folder a mount point */
function mayHold(folder) {
  try {
    // proc_mounts(5): device, mount point, type, options.
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    const options = mounts.map((line) => line.split(' ')).findLast(([, point]) => point === folder)?.[3]
    const { bavail, bsize } = statfsSync(folder)
    return options !== undefined && !options.split(',').includes('noexec') && bavail * bsize >= roomBytes
  } catch {
    return false
  }
}
