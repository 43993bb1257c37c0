/** Reads a file where an agent may write, by what it is and not by what a link says. */
import { constants } from 'node:fs'
import { open, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'

/** The content of a file below `root`, a real path; `null` when it is none of ours to read: no plain file, too large, or reached through a link. */
export async function readPlain(root: string, path: string, mostBytes: number): Promise<Buffer | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(join(root, path), flags).catch(() => undefined)
  if (!handle) return null
  try {
    const { size, nlink, ...entry } = await handle.stat()
    const isPlain = (entry.mode & constants.S_IFMT) === constants.S_IFREG && nlink === 1 && size <= mostBytes
    if (!isPlain || !(await isAt(handle.fd, join(root, path)))) return null
    const content = Buffer.alloc(size)
    const { bytesRead } = await handle.read(content, 0, size, 0)
    return content.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** Whether what was opened lies where it was asked for: a folder on the way may have become a link at any moment. */
async function isAt(descriptor: number, path: string): Promise<boolean> {
  const opened = await readlink(`/proc/self/fd/${descriptor}`).catch(() => undefined)
  // Without /proc there is no box either, and an agent reads what it likes.
  return opened === undefined ? (await realpath(path).catch(() => undefined)) === path : opened === path
}
