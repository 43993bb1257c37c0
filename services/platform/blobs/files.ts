/** Blobs as files: `ab/cd/<hash>`, written beside, synced, and renamed into place. */
import { createHash, randomUUID } from 'node:crypto'
import { constants, mkdirSync, rmSync } from 'node:fs'
import { access, mkdir, open, readFile, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { serializeByKey } from '../async/queue.ts'
import type { Blobs } from '../ports/blobs.ts'
import { DamagedBlob, EngineUnavailable } from '../ports/faults.ts'

/** Opens the blobs in `folder`, makes it where it is missing, and drops what a killed process left half-written. */
export function openFileBlobs({ folder }: { folder: string }): Blobs {
  const halfWritten = join(folder, 'half-written')
  const running = new Set<Promise<unknown>>()
  /** What looks at a blob's age and then acts on it, one after the other: a data folder has one process. */
  const serialized = serializeByKey()
  let closed = false

  /** Keeps account of what runs, so that `close` can wait, and names the faults of the disk. */
  async function onDisk<T>(work: () => Promise<T>): Promise<T> {
    if (closed) throw new EngineUnavailable(`The folder ${folder}`)
    const result = work()
    running.add(result)
    try {
      return await result
    } catch (fault) {
      throw fault instanceof Error && 'syscall' in fault
        ? new EngineUnavailable(`The folder ${folder}`, fault)
        : fault
    } finally {
      running.delete(result)
    }
  }

  try {
    rmSync(halfWritten, { recursive: true, force: true })
    mkdirSync(halfWritten, { recursive: true, mode: 0o700 })
  } catch (fault) {
    throw new EngineUnavailable(`The folder ${folder}`, fault)
  }

  const fileOf = (hash: string): string => join(folder, hash.slice(0, 2), hash.slice(2, 4), hash)

  async function write(hash: string, bytes: Uint8Array): Promise<void> {
    const draft = join(halfWritten, randomUUID())
    const file = fileOf(hash)
    try {
      const handle = await open(draft, 'wx', 0o600)
      try {
        await handle.writeFile(bytes)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await rename(draft, file)
    } catch (fault) {
      await rm(draft, { force: true })
      throw fault
    }
    // The name, too, must outlast a power cut; its folders may be new.
    await syncFolder(dirname(file))
    await syncFolder(dirname(dirname(file)))
    await syncFolder(folder)
  }

  async function put(hash: string, bytes: Uint8Array): Promise<void> {
    const file = fileOf(hash)
    const size = await stat(file).then(({ size }) => size, absent)
    if (size !== bytes.byteLength) return write(hash, bytes)
    const now = new Date()
    await utimes(file, now, now)
  }

  async function remove(hash: string, putBefore: Date | undefined): Promise<void> {
    const file = fileOf(hash)
    if (putBefore !== undefined) {
      const found = await stat(file).catch(absent)
      if (!found || found.mtime >= putBefore) return
    }
    await rm(file, { force: true })
  }

  /** Whether it was put before, for all that can be told. */
  async function isOlder(hash: string, putBefore: Date): Promise<boolean> {
    try {
      const found = await onDisk(() => stat(fileOf(hash)).catch(absent))
      return found !== undefined && found.mtime < putBefore
    } catch (fault) {
      if (closed || !(fault instanceof EngineUnavailable)) throw fault
      return true
    }
  }

  /** By their folders, `half-written` left out: two hundred and fifty-six names at a time at most, but for the blobs of the last. */
  async function* list(putBefore: Date): AsyncGenerator<string> {
    const faults: unknown[] = []
    const namesIn = async (...path: string[]): Promise<readonly string[]> => {
      try {
        return (await onDisk(() => readdir(join(folder, ...path)).catch(absent))) ?? []
      } catch (fault) {
        if (closed) throw fault
        faults.push(fault)
        return []
      }
    }
    for (const first of (await namesIn()).filter(isPair))
      for (const second of (await namesIn(first)).filter(isPair))
        for (const hash of await namesIn(first, second))
          // A name that is elsewhere than it belongs is no blob.
          if (isHash(hash) && hash.startsWith(first + second) && (await isOlder(hash, putBefore))) yield hash
    if (faults.length > 0) throw faults[0]
  }

  return {
    put: (bytes) => {
      const hash = hashOf(bytes)
      return onDisk(() => serialized(hash, () => put(hash, bytes))).then(() => hash)
    },
    get: (hash) =>
      onDisk(async () => {
        if (!isHash(hash)) return undefined
        const bytes = await readFile(fileOf(hash)).catch(absent)
        if (bytes !== undefined && hashOf(bytes) !== hash) {
          throw new DamagedBlob(`The blob ${hash} is damaged: its bytes have another hash.`)
        }
        return bytes
      }),
    remove: (hash, putBefore) =>
      onDisk(async () => {
        if (isHash(hash)) await serialized(hash, () => remove(hash, putBefore))
      }),
    list,
    ready: () => onDisk(() => access(halfWritten, constants.W_OK)),
    close: async () => {
      closed = true
      await Promise.allSettled(running)
    },
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** No other name ever becomes a path. */
function isHash(hash: string): boolean {
  return /^[0-9a-f]{64}$/.test(hash)
}

/** The name of a folder of blobs. */
function isPair(name: string): boolean {
  return /^[0-9a-f]{2}$/.test(name)
}

function absent(fault: unknown): undefined {
  if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return undefined
  throw fault
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
