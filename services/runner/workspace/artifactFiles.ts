/** Finds and reads the files that an agent left for people in its workspace. No link is followed. Nothing may run in the workspace meanwhile. */
import type { Stats } from 'node:fs'
import { lstat, opendir, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { artifactFolder, artifactLimits } from '#domain/api/artifacts.ts'
import { readPlain } from './agentFiles.ts'

export interface ArtifactFiles {
  /** The paths of the files that may be kept, in order, relative to the folder of artifacts. */
  readonly paths: readonly string[]
  readonly refused: readonly RefusedFile[]
  /** Reads a file; `null` when it is gone, too large or not plain by now. */
  read(path: string): Promise<Buffer | null>
}

export interface RefusedFile {
  readonly path: string
  /** Why the file is not kept, worded to follow 'because'. */
  readonly because: string
}

/** Finds the files that were created or changed since a time, given in milliseconds since 1970. */
export async function artifactFiles(treeDir: string, since: number): Promise<ArtifactFiles> {
  const root = await realpath(treeDir)
  const refused: RefusedFile[] = []
  const paths: string[] = []
  const read = (path: string) => readPlain(root, join(artifactFolder, path), artifactLimits.bytes)
  const odd = await oddFolder(root)
  if (odd !== undefined) {
    if (odd.entry.ctimeMs >= since) refused.push({ path: odd.path, because: 'it is no folder' })
    return { paths, refused, read }
  }
  const found = await entriesBelow(join(root, artifactFolder))
  for (const path of found.paths.toSorted()) {
    const entry = await lstat(join(root, artifactFolder, path)).catch(() => undefined)
    // The change time (ctime) is compared, because a program can set a file's modification time, but not its change time.
    if (entry !== undefined && entry.ctimeMs < since) continue
    const because = entry === undefined ? 'it cannot be read' : reasonAgainst(path, entry)
    if (because === undefined) paths.push(path)
    else refused.push({ path, because })
  }
  if (found.isCut)
    refused.push({
      path: artifactFolder,
      because: `only its first ${artifactLimits.entriesExamined} files and folders were looked at`,
    })
  return { paths, refused, read }
}

/** The parent of `artifactFolder`, or else `artifactFolder`, if it exists but is not a folder, for example a link; otherwise `undefined`. */
async function oddFolder(root: string) {
  for (const path of [dirname(artifactFolder), artifactFolder]) {
    const entry = await lstat(join(root, path)).catch(() => undefined)
    if (entry !== undefined && !entry.isDirectory()) return { path, entry }
  }
  return undefined
}

function reasonAgainst(path: string, entry: Stats): string | undefined {
  if (path.length > artifactLimits.nameLength || /[\p{C}\p{Zl}\p{Zp}\ufffd\\]/u.test(path))
    return 'its name is too long or has characters that cannot be shown'
  if (entry.isSymbolicLink()) return 'it is a link'
  if (!entry.isFile()) return 'it is no plain file'
  if (entry.nlink > 1) return 'it is a hard link to another file'
  if (entry.size > artifactLimits.bytes) return 'it is larger than 10 MB'
  return undefined
}

/** The paths of everything below `root` that is not a folder; `isCut` says whether there is more. */
async function entriesBelow(
  root: string,
): Promise<{ readonly paths: readonly string[]; readonly isCut: boolean }> {
  const paths: string[] = []
  const folders = ['']
  let examined = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await opendir(join(root, folder)).catch(() => undefined)
    for await (const entry of entries ?? []) {
      if (examined === artifactLimits.entriesExamined) return { paths, isCut: true }
      examined += 1
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else paths.push(path)
    }
  }
  return { paths, isCut: false }
}
