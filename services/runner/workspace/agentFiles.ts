/** Handles files and folders that an agent may have written: reads them without following links, changes their owner, removes them. */
import { constants, lchownSync, readdirSync } from 'node:fs'
import { open, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { run, type HostUser } from '#platform/childProcess.ts'

/**
 * The content of a file; `root` is a real path. `null` when the file cannot be opened, is too large, is not a plain file with a single name, or is
 * reached through a link.
 */
export async function readPlain(root: string, path: string, maxBytes: number): Promise<Buffer | null> {
  const read = await readPlainStart(root, path, maxBytes, (size) => size <= maxBytes)
  return read && read.start
}

/**
 * The first bytes of a file, at most `mostBytes`, and its size; `root` is a real path. `null` when the file cannot be opened, is not a plain file
 * with a single name, or is reached through a link, or when `isAccepted` is false for its size.
 */
export async function readPlainStart(
  root: string,
  path: string,
  mostBytes: number,
  isAccepted: (size: number) => boolean = () => true,
): Promise<{ readonly size: number; readonly start: Buffer } | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(join(root, path), flags).catch(() => undefined)
  if (!handle) return null
  try {
    const { size, nlink, ...entry } = await handle.stat()
    const isPlain = (entry.mode & constants.S_IFMT) === constants.S_IFREG && nlink === 1
    if (!isPlain || !isAccepted(size) || !(await isAt(handle.fd, join(root, path)))) return null
    const content = Buffer.alloc(Math.min(size, mostBytes))
    const { bytesRead } = await handle.read(content, 0, content.length, 0)
    return { size, start: content.subarray(0, bytesRead) }
  } finally {
    await handle.close()
  }
}

/**
 * Calls `use` with a function that returns the path of each name in a folder; `root` is a real path. Returns `undefined` when the path is not a
 * folder that can be opened, or is reached through a link. On Linux, the returned paths lead into the same folder even if an agent moves it
 * meanwhile.
 */
export async function withFolder<T>(
  root: string,
  path: string,
  use: (placeOf: (name: Buffer) => Buffer) => Promise<T>,
): Promise<T | undefined> {
  const dir = path === '' ? root : join(root, path)
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
  const handle = await open(dir, flags).catch(() => undefined)
  if (!handle) return undefined
  try {
    if (!(await isAt(handle.fd, dir))) return undefined
    const opened = `/proc/self/fd/${handle.fd}`
    const isKnown = await readlink(opened).then(
      () => true,
      () => false,
    )
    const base = Buffer.from(`${isKnown ? opened : dir}/`)
    return await use((name) => Buffer.concat([base, name]))
  } finally {
    await handle.close()
  }
}

/** Whether the opened file is at the given path: an agent may replace a folder by a link at any moment. */
async function isAt(descriptor: number, path: string): Promise<boolean> {
  const opened = await readlink(`/proc/self/fd/${descriptor}`).catch(() => undefined)
  // Without /proc there are no sandboxes either, and an agent can read everything anyway.
  return opened === undefined ? (await realpath(path).catch(() => undefined)) === path : opened === path
}

/** Makes a user the owner of folders with everything in them. For links, the links themselves get the owner. */
export async function giveTo({ uid, gid }: HostUser, dirs: readonly string[], path: string): Promise<void> {
  await runOrThrow('chown', ['-R', '-h', `${uid}:${gid}`, '--', ...dirs], path)
}

/**
 * Makes a user the owner of a folder and of everything in it, without starting a process. The folder must have few files, and only files that we have
 * written.
 */
export function giveFew({ uid, gid }: HostUser, dir: string): void {
  for (const name of ['.', ...readdirSync(dir, { encoding: 'utf8', recursive: true })])
    lchownSync(join(dir, name), uid, gid)
}

/**
 * Removes a folder with the `rm` program. Unlike Node, it works on open folders: it can remove very deep ones, and an agent that moves folders cannot
 * lead it elsewhere.
 */
export async function removeFolder(dir: string, path: string): Promise<void> {
  // Users other than root cannot empty folders without the write permission.
  if (process.getuid?.() !== 0)
    await run('chmod', ['-R', '-f', 'u+rwX', '--', dir], { env: { PATH: path }, ...limits })
  await runOrThrow('rm', ['-rf', '--', dir], path)
}

async function runOrThrow(file: string, args: readonly string[], path: string): Promise<void> {
  const finished = await run(file, args, { env: { PATH: path, LC_ALL: 'C.UTF-8' }, ...limits })
  if (finished.endedBy !== 'itself' || finished.code !== 0)
    throw new Error(`${file} failed: ${finished.stderr.toString('utf8').slice(0, 500) || finished.endedBy}`)
}

const limits = { timeoutMs: 300_000, maxOutputBytes: 65_536 }
