/** Files that must be on the disk when a call returns, and those that may be missing. */
import { open } from 'node:fs/promises'

/** A handler for `catch` that returns `undefined` for a file or folder that does not exist. */
export function ifAbsent(fault: unknown): undefined {
  if (hasCode(fault, 'ENOENT')) return undefined
  throw fault
}

export function hasCode(fault: unknown, code: string): boolean {
  return fault instanceof Error && 'code' in fault && fault.code === code
}

/** Writes a new file that only its owner can read. Throws when the file exists. */
export async function writeNewFile(path: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Syncs a folder: only after this does a new name in it survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
