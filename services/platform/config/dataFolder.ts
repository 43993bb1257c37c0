/** The data folder: created if it is missing, and locked by one process at a time. */
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../engines/sqlite.ts'
import { releaseIfFull } from './ballast.ts'

/** The folder cannot be used; the message says what to do. */
export class UnusableDataFolder extends Error {
  override readonly name = 'UnusableDataFolder'
}

/**
 * Makes the folder, or makes it its owner's alone (mode 0700), and locks it. The lock is the system's own on a file, so that it is gone the moment its process is,
 * however that ends. The returned function gives it back. Throws `UnusableDataFolder`.
 */
export function holdDataFolder(folder: string): () => void {
  const lock = join(folder, 'lock')
  releaseIfFull(folder)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const trial = join(folder, '.writable')
    writeFileSync(trial, '', { mode: 0o600 })
    // The journal of the lock gets the lock's mode. A lock that is there is not opened: closing it would give it back.
    if (!existsSync(lock)) writeFileSync(lock, '', { mode: 0o600 })
    // What was there before may let others of the machine in.
    for (const path of [folder, trial, lock, join(folder, 'blobs')]) closeToOthers(path)
  } catch (fault) {
    throw new UnusableDataFolder(
      `The data folder ${folder} is not writable. Make it writable, or point DATA_DIR at another folder.`,
      { cause: fault },
    )
  }
  const release = lockFile(lock)
  if (release) return release
  throw new UnusableDataFolder(
    `The data folder ${folder} is in use by another Flightdeck. Stop that one, or point DATA_DIR at another folder.`,
  )
}

/** Takes away what others than the owner may do with it, if it is there. */
function closeToOthers(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700)
}
