/** Blobs as files: `ab/cd/<hash>`, written to a temporary file, synced, and renamed. */
import { createHash, randomUUID } from 'node:crypto'
import { constants, mkdirSync, rmSync } from 'node:fs'
import { access, mkdir, open, readFile, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { serializeByKey } from '../async/queue.ts'
import { ifAbsent, syncFolder, writeNewFile } from '../files.ts'
import { isBlobHash, type Blobs } from '../ports/blobs.ts'
import { sha256 } from '../hashes.ts'
import { DamagedBlob, EngineUnavailable } from '../ports/faults.ts'

interface FileBlobs {
  readonly folder: string
  readonly halfWritten: string
  /** Running work, which `close` waits for. */
  readonly running: Set<Promise<unknown>>
  closed: boolean
}

/** Opens the blobs in `folder`, which is created if missing, and removes half-written files of a killed process. */
export function openFileBlobs({ folder }: { folder: string }): Blobs {
  const halfWritten = join(folder, 'half-written')
  const blobs: FileBlobs = { folder, halfWritten, running: new Set(), closed: false }
  // Nothing may change a blob between the check of its age and its removal. Locks in this process suffice, since only one process uses a data folder.
  const serialized = serializeByKey()
  try {
    rmSync(halfWritten, { recursive: true, force: true })
    mkdirSync(halfWritten, { recursive: true, mode: 0o700 })
  } catch (fault) {
    throw new EngineUnavailable(`The folder ${folder}`, fault)
  }

  return {
    put: (bytes) => {
      const hash = sha256(bytes)
      return onDisk(blobs, () => serialized(hash, () => put(blobs, hash, bytes))).then(() => hash)
    },
    get: (hash) => getBlob(blobs, hash),
    check: (hash) => onDisk(blobs, () => checkBlob(folder, hash)),
    remove: (hash, putBefore) =>
      onDisk(blobs, async () => {
        if (isBlobHash(hash)) await serialized(hash, () => remove(blobs, hash, putBefore))
      }),
    list: (putBefore) => list(blobs, putBefore),
    ready: () => onDisk(blobs, () => access(halfWritten, constants.W_OK)),
    close: async () => {
      blobs.closed = true
      await Promise.allSettled(blobs.running)
    },
  }
}

/** Runs work that `close` waits for, and converts errors of the disk to `EngineUnavailable`. */
async function onDisk<T>(blobs: FileBlobs, work: () => Promise<T>): Promise<T> {
  if (blobs.closed) throw new EngineUnavailable(`The folder ${blobs.folder}`)
  const result = work()
  blobs.running.add(result)
  try {
    return await result
  } catch (fault) {
    throw fault instanceof Error && 'syscall' in fault
      ? new EngineUnavailable(`The folder ${blobs.folder}`, fault)
      : fault
  } finally {
    blobs.running.delete(result)
  }
}

function fileOf(blobs: Pick<FileBlobs, 'folder'>, hash: string): string {
  return join(blobs.folder, hash.slice(0, 2), hash.slice(2, 4), hash)
}

async function write(blobs: FileBlobs, hash: string, bytes: Uint8Array): Promise<void> {
  const draft = join(blobs.halfWritten, randomUUID())
  const file = fileOf(blobs, hash)
  try {
    await writeNewFile(draft, bytes)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await rename(draft, file)
  } catch (fault) {
    await rm(draft, { force: true })
    throw fault
  }
  // A power cut must not undo the renaming, nor the creation of the folders above the file.
  await syncFolder(dirname(file))
  await syncFolder(dirname(dirname(file)))
  await syncFolder(blobs.folder)
}

async function put(blobs: FileBlobs, hash: string, bytes: Uint8Array): Promise<void> {
  const file = fileOf(blobs, hash)
  const size = await stat(file).then(({ size }) => size, ifAbsent)
  if (size !== bytes.byteLength) return write(blobs, hash, bytes)
  const now = new Date()
  await utimes(file, now, now)
}

async function remove(blobs: FileBlobs, hash: string, putBefore: Date | undefined): Promise<void> {
  const file = fileOf(blobs, hash)
  if (putBefore !== undefined) {
    const found = await stat(file).catch(ifAbsent)
    if (!found || found.mtime >= putBefore) return
  }
  await rm(file, { force: true })
}

async function isOlder(blobs: FileBlobs, hash: string, putBefore: Date): Promise<boolean> {
  try {
    const found = await onDisk(blobs, () => stat(fileOf(blobs, hash)).catch(ifAbsent))
    return found !== undefined && found.mtime < putBefore
  } catch (fault) {
    if (blobs.closed || !(fault instanceof EngineUnavailable)) throw fault
    return true
  }
}

/** Lists blobs folder by folder, without `half-written`. Keeps only one folder's names per level in memory. */
async function* list(blobs: FileBlobs, putBefore: Date): AsyncGenerator<string> {
  const faults: unknown[] = []
  const namesIn = async (...path: string[]): Promise<readonly string[]> => {
    try {
      return (await onDisk(blobs, () => readdir(join(blobs.folder, ...path)).catch(ifAbsent))) ?? []
    } catch (fault) {
      if (blobs.closed) throw fault
      faults.push(fault)
      return []
    }
  }
  for (const first of (await namesIn()).filter(isPair))
    for (const second of (await namesIn(first)).filter(isPair))
      for (const hash of await namesIn(first, second))
        // A file in the wrong folder is not a blob.
        if (isBlobHash(hash) && hash.startsWith(first + second) && (await isOlder(blobs, hash, putBefore)))
          yield hash
  if (faults.length > 0) throw faults[0]
}

function getBlob(blobs: FileBlobs, hash: string): Promise<Uint8Array | undefined> {
  return onDisk(blobs, async () => {
    if (!isBlobHash(hash)) return undefined
    const bytes = await readFile(fileOf(blobs, hash)).catch(ifAbsent)
    if (bytes !== undefined && sha256(bytes) !== hash) {
      throw new DamagedBlob(`The blob ${hash} is damaged: its bytes have another hash.`)
    }
    return bytes
  })
}

/** Whether the folder has the blob, and whether the blob matches its hash. Reads the file in pieces. */
export async function checkBlob(folder: string, hash: string): Promise<'whole' | 'changed' | 'missing'> {
  if (!isBlobHash(hash)) return 'missing'
  const found = createHash('sha256')
  const handle = await open(fileOf({ folder }, hash), 'r').catch(ifAbsent)
  if (!handle) return 'missing'
  for await (const piece of handle.createReadStream()) found.update(piece)
  return found.digest('hex') === hash ? 'whole' : 'changed'
}

function isPair(name: string): boolean {
  return /^[0-9a-f]{2}$/.test(name)
}
