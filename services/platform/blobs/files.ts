/** Blobs as files: `ab/cd/<hash>`, written beside, synced, and renamed into place. */
import { createHash, randomUUID } from 'node:crypto'
import { constants, mkdirSync, rmSync } from 'node:fs'
import { access, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Blobs } from '../ports/blobs.ts'
import { DamagedBlob, EngineUnavailable } from '../ports/faults.ts'

/** Opens the blobs in `folder`, makes it where it is missing, and drops what a killed process left half-written. */
export function openFileBlobs({ folder }: { folder: string }): Blobs {
  const halfWritten = join(folder, 'half-written')
  const running = new Set<Promise<unknown>>()
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

  return {
    put: (bytes) =>
      onDisk(async () => {
        const hash = hashOf(bytes)
        const size = await stat(fileOf(hash)).then(({ size }) => size, absent)
        if (size !== bytes.byteLength) await write(hash, bytes)
        return hash
      }),
    get: (hash) =>
      onDisk(async () => {
        if (!isHash(hash)) return undefined
        const bytes = await readFile(fileOf(hash)).catch(absent)
        if (bytes !== undefined && hashOf(bytes) !== hash) {
          throw new DamagedBlob(`The blob ${hash} is damaged: its bytes have another hash.`)
        }
        return bytes
      }),
    remove: (hash) =>
      onDisk(async () => {
        if (isHash(hash)) await rm(fileOf(hash), { force: true })
      }),
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
