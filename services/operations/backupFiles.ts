/** Copies, hashes and syncs files and folders for backups. */
import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { chmod, copyFile, mkdir, open, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { z } from 'zod'
import { Sha256 } from '#domain/kernel/ids.schema.ts'

export const FileSum = z.strictObject({ bytes: z.int().nonnegative(), sha256: Sha256 })
export const TreeSum = z.strictObject({
  files: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  sha256: Sha256,
})

/** Folders at the top level that contain unfinished work, or leftovers of a killed process. */
const leftOut = new Set(['half-written', 'incoming'])

/**
 * Copies the files below a folder, except lock files and files that are removed during the copy. git's refs are copied before its objects, which are
 * only ever added, so that the copy has every object that a ref names. `without` lists names at the top level to leave out.
 */
export async function copyTree(
  from: string,
  to: string,
  progress: (line: string) => void,
  without: readonly string[] = [],
): Promise<void> {
  let files = 0
  const copy = async (source: string, target: string): Promise<void> => {
    await mkdir(target, { recursive: true, mode: 0o700 })
    const entries = await readdir(source, { withFileTypes: true }).catch(absentAs([]))
    const later = (name: string) => Number(name === 'objects' || name === 'pack')
    for (const entry of entries.toSorted((a, b) => later(a.name) - later(b.name))) {
      const isLeftOut = leftOut.has(entry.name) || without.includes(entry.name)
      if ((source === from && isLeftOut) || entry.name.endsWith('.lock')) continue
      const [one, other] = [join(source, entry.name), join(target, entry.name)]
      if (entry.isDirectory()) await copy(one, other)
      else if (entry.isFile()) {
        const isCopied = await copyFile(one, other, constants.COPYFILE_FICLONE).then(
          () => true,
          absentAs(false),
        )
        if (isCopied) await chmod(other, 0o600)
        files += 1
        if (files % 1_000 === 0) progress(`${files} files copied`)
      }
    }
  }
  await copy(from, to)
}

/** The number and total size of all files below a folder, and one hash over their names, sizes and hashes, ordered by name. */
export async function sumOf(folder: string): Promise<z.infer<typeof TreeSum>> {
  const whole = createHash('sha256')
  let files = 0
  let bytes = 0
  for await (const file of filesBelow(folder)) {
    const one = await digestOf(file)
    whole.update(`${relative(folder, file).split(sep).join('/')}\0${one.bytes}\0${one.sha256}\n`)
    files += 1
    bytes += one.bytes
  }
  return { files, bytes, sha256: whole.digest('hex') }
}

/** The files below a folder; with `andFolders`, its subfolders too. */
async function* filesBelow(folder: string, andFolders = false): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(absentAs([]))
  for (const { name } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, name)
    const isFolder = (await stat(path)).isDirectory()
    if (isFolder) yield* filesBelow(path, andFolders)
    if (!isFolder || andFolders) yield path
  }
}

export async function digestOf(file: string): Promise<z.infer<typeof FileSum>> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(file)) {
    const piece: Buffer = chunk
    hash.update(piece)
    bytes += piece.byteLength
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** The most files that are synced at once. A disk needs little more time for many files than for one. */
const syncedAtOnce = 16

/** Syncs a folder and everything below it to the disk. */
export async function syncAll(folder: string): Promise<void> {
  const paths = filesBelow(folder, true)
  const syncInTurn = async () => {
    for await (const path of paths) await syncFolder(path)
  }
  await Promise.all(Array.from({ length: syncedAtOnce }, syncInTurn))
  await syncFolder(folder)
}

export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The path with links resolved; for a path that does not exist, the existing part is resolved. */
export async function placeOf(path: string): Promise<string> {
  const found = await realpath(path).catch(absentAs(undefined))
  return found ?? join(await placeOf(dirname(path)), basename(path))
}

export function isInside(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}${sep}`)
}

export async function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(absentAs(undefined))
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function codeOf(fault: unknown): unknown {
  return fault instanceof Error && 'code' in fault ? fault.code : undefined
}

export function isMissing(fault: unknown): boolean {
  return codeOf(fault) === 'ENOENT'
}

export function absentAs<Value>(value: Value): (fault: unknown) => Value {
  return (fault) => {
    if (isMissing(fault)) return value
    throw fault
  }
}
