/** Creates and locks the data folder, so that only one Flightdeck at a time runs on it. Some commands of the operator open it without the lock. */
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../engines/sqlite.ts'
import { releaseIfFull } from './ballast.ts'

/** Thrown when the data folder cannot be used. The message says what to do. */
export class UnusableDataFolder extends Error {
  override readonly name = 'UnusableDataFolder'
}

/**
 * Creates the folder, restricts it to its owner (mode 0700), and locks it. The lock is a file lock of the system, so it is released as soon as the
 * process ends, in whatever way. The returned function releases it. Throws `UnusableDataFolder`.
 */
export function holdDataFolder(folder: string): () => void {
  const lock = join(folder, 'lock')
  try {
    releaseIfFull(folder)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const trial = join(folder, '.writable')
    writeFileSync(trial, '', { mode: 0o600 })
    // A new lock file gets this mode, because its journal gets the same mode. An existing lock file is not opened, because closing it would release
    // the lock.
    if (!existsSync(lock)) writeFileSync(lock, '', { mode: 0o600 })
    // Existing paths may be accessible to other users of the machine, so their mode is changed too.
    for (const path of [folder, trial, lock, join(folder, 'blobs')]) closeToOthers(path)
  } catch (fault) {
    if (fault instanceof UnusableDataFolder) throw fault
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

function closeToOthers(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & 0o077) === 0) return
  try {
    chmodSync(path, mode & 0o700)
  } catch (fault) {
    throw new UnusableDataFolder(
      `${path} is open to other users, and Flightdeck may not close it to them. Make the user that runs Flightdeck its owner, or point DATA_DIR at a folder that does not exist yet.`,
      { cause: fault },
    )
  }
}
