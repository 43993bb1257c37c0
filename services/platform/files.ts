/** Writes files that must be on the disk when a call returns, and handles files that may be missing. */
import { open } from 'node:fs/promises'

/** For a `catch`: returns `undefined` when the file or folder does not exist, and throws any other fault. */
export function ifAbsent(fault: unknown): undefined {
  if (hasCode(fault, 'ENOENT')) return undefined
  throw fault
}

export function hasCode(fault: unknown, code: string): boolean {
  return fault instanceof Error && 'code' in fault && fault.code === code
}

/** Writes a new file that only its owner can access, and flushes its content to the disk. Throws when the file already exists. */
export async function writeNewFile(path: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Flushes a folder to the disk. A file that was created or renamed in the folder survives a power cut only after this. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
