/** The data folder: created if it is missing, and locked by one process at a time. */
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '../engines/sqlite.ts'

/** The folder cannot be used; the message says what to do. */
export class UnusableDataFolder extends Error {
  override readonly name = 'UnusableDataFolder'
}

/**
 * Makes the folder, or makes it its owner's alone (mode 0700), and locks it. The lock is the system's own on a file, so that it is gone the moment its process is,
 * however that ends. The returned function gives it back. Throws `UnusableDataFolder`.
 */
export function holdDataFolder(folder: string): () => void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // One that was there before may let others of the machine in.
    if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700)
    const trial = join(folder, '.writable')
    writeFileSync(trial, '')
  } catch (fault) {
    throw new UnusableDataFolder(
      `The data folder ${folder} is not writable. Make it writable, or point DATA_DIR at another folder.`,
      { cause: fault },
    )
  }
  const release = lockFile(join(folder, 'lock'))
  if (release) return release
  throw new UnusableDataFolder(
    `The data folder ${folder} is in use by another Flightdeck. Stop that one, or point DATA_DIR at another folder.`,
  )
}

/** Below this many bytes the next write may fail. */
const leastFreeBytes = 16 * 1024 ** 2

/** Throws while the folder's file system has next to no space left. */
export async function requireFreeDisk(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < leastFreeBytes) throw new Error(`The disk of ${folder} is full.`)
}
