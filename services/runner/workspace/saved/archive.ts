/**
 * Packs folders of an agent's home into one compressed tar, such as the folders with its sessions, and unpacks them. Only plain files are packed, and
 * no link is followed.
 */
import { constants, type Dirent } from 'node:fs'
import { chown, lstat, mkdir, open, opendir, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { readPlain, removeFolder } from '../agentFiles.ts'
import { packTar, readTar, type TarFile } from './tar.ts'
import type { SandboxUser } from '../workspace.ts'

export interface ArchiveLimits {
  readonly files: number
  /** The size of all files before compression. */
  readonly bytes: number
}

interface PackingLimits extends ArchiveLimits {
  /** How many files and folders are looked at, since an agent can make any number of them. */
  readonly entries: number
}

export const defaultArchiveLimits: PackingLimits = { files: 5_000, bytes: 32 * 1024 ** 2, entries: 20_000 }

export interface Packed {
  readonly archive: Buffer
  readonly files: number
  /** Whether a plain file is or may be missing, because it is beyond the limits, has several names, or cannot be read. */
  readonly isCut: boolean
  /** The first 1,000 paths that were looked at and left out: links, pipes, files with several names, and files beyond the limits. */
  readonly leftOut: readonly string[]
}

/**
 * Packs the files below `folders`, which are paths relative to `home` and need not exist; deeper than 16 folders below each, nothing is packed. Equal
 * files give equal bytes. An agent may write meanwhile, so a file may be packed half-written, but nothing outside of `home` is read.
 */
export async function packFolders(
  home: string,
  folders: readonly string[],
  limits = defaultArchiveLimits,
): Promise<Packed> {
  const root = await realpath(home)
  const leftOut: string[] = []
  const packed: TarFile[] = []
  let bytes = 0
  const left = { entries: limits.entries }
  let isCut = false
  for (const folder of folders) {
    for await (const { path, isFile } of filesBelow(root, folder, left)) {
      const isRead = isFile && packed.length < limits.files
      const content = isRead ? await readPlain(root, path, limits.bytes - bytes) : null
      if (content === null) {
        isCut ||= isFile
        // `leftOut` is limited, since an agent can make any number of files.
        if (leftOut.length < maxListed) leftOut.push(path)
        continue
      }
      bytes += content.length
      packed.push({ path, content })
    }
  }
  const archive = await promisify(gzip)(await packTar(packed))
  return { archive, files: packed.length, isCut: isCut || left.entries === 0, leftOut }
}

export interface UnpackOptions {
  readonly limits?: ArchiveLimits
  /** Maps a path in the archive to the path that is written; unchanged by default. */
  readonly renamed?: (path: string) => string
}

/**
 * `unreadable`: the archive is not from `packFolders` with these folders and limits, and nothing was written. `in_the_way`: something else is at the
 * path of a folder or file; other files may have been written.
 */
export type UnpackResult = 'unpacked' | 'unreadable' | 'in_the_way'

/**
 * Writes the files of an archive into a home, over existing ones. The files then belong to the owner of the home. An archive with files outside of
 * `folders` counts as unreadable. Nothing may run in the home. Throws file system errors.
 */
export async function unpackFolders(
  home: string,
  folders: readonly string[],
  archive: Uint8Array,
  owner?: SandboxUser,
  { limits = defaultArchiveLimits, renamed = (path: string) => path }: UnpackOptions = {},
): Promise<UnpackResult> {
  const packed = await readArchive(archive, limits)
  const files = packed?.map((file) => ({ ...file, path: renamed(file.path) })) ?? null
  const isInside = ({ path }: TarFile) =>
    isPlainPath(path) && folders.some((folder) => path.startsWith(`${folder}/`))
  if (files === null || !files.every(isInside)) return 'unreadable'
  for (const { path, content } of files)
    if (!(await writePlain(home, path, content, owner))) return 'in_the_way'
  return 'unpacked'
}

/**
 * Removes folders of a home, so that they contain only the files that are unpacked afterwards. Files behind a link stay. No process may run in the
 * home meanwhile.
 */
export async function removeFolders(home: string, folders: readonly string[], path: string): Promise<void> {
  for (const folder of folders) {
    const names = folder.split('/')
    const parents = names.map((_, index) => join(home, ...names.slice(0, index + 1)))
    const found = await Promise.all(parents.map((parent) => lstat(parent).catch(() => undefined)))
    if (found.every((entry) => entry?.isDirectory() === true)) await removeFolder(join(home, folder), path)
  }
}

async function readArchive(archive: Uint8Array, limits: ArchiveLimits): Promise<readonly TarFile[] | null> {
  // In addition to its content, a file needs two headers of 512 bytes, a block for a long path, and padding.
  const maxOutputLength = limits.bytes + limits.files * maxBesideContent + 1_024
  const tar = await promisify(gunzip)(archive, { maxOutputLength }).catch(() => null)
  return tar && readTar(tar)
}

/** The paths of everything below `folder` except folders, in order, until no entries are `left`. */
async function* filesBelow(
  root: string,
  folder: string,
  left: { entries: number },
  depth = 0,
): AsyncGenerator<{ readonly path: string; readonly isFile: boolean }> {
  const at = await lstat(join(root, folder)).catch(() => undefined)
  if (!at?.isDirectory()) return
  const entries: Dirent[] = []
  for await (const entry of (await opendir(join(root, folder)).catch(() => undefined)) ?? []) {
    if (left.entries === 0) break
    left.entries -= 1
    entries.push(entry)
  }
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) yield { path, isFile: entry.isFile() }
    else if (depth < deepest) yield* filesBelow(root, path, left, depth + 1)
  }
}

/** Writes a plain file; false when something else is at the path. */
async function writePlain(
  home: string,
  path: string,
  content: Buffer,
  owner: SandboxUser | undefined,
): Promise<boolean> {
  let folder = home
  for (const name of dirname(path).split('/')) {
    folder = join(folder, name)
    const there = await lstat(folder).catch(() => undefined)
    if (there && !there.isDirectory()) return false
    if (there) continue
    await mkdir(folder, { mode: 0o700 })
    if (owner) await chown(folder, owner.uid, owner.gid)
  }
  const there = await lstat(join(home, path)).catch(() => undefined)
  if (there && (!there.isFile() || there.nlink > 1)) return false
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
  const handle = await open(join(home, path), flags, 0o600)
  try {
    await handle.writeFile(content)
    if (owner) await handle.chown(owner.uid, owner.gid)
    return true
  } finally {
    await handle.close()
  }
}

function isPlainPath(path: string): boolean {
  return !path.includes('\0') && path.split('/').every((name) => name !== '' && name !== '.' && name !== '..')
}

const maxBesideContent = 8 * 1_024
const deepest = 16
const maxListed = 1_000
