/** Reads and writes tar archives that contain only regular files. */
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { extract, pack } from 'tar-stream'

export interface TarFile {
  readonly path: string
  readonly content: Buffer
}

/** Packs files. The same files in the same order give the same bytes, because owner and time are left out. */
export async function packTar(files: readonly TarFile[]): Promise<Buffer> {
  const packing = pack()
  for (const { path, content } of files)
    packing.entry({ name: path, type: 'file', mode: 0o600, mtime: new Date(0) }, content)
  packing.finalize()
  return buffer(packing)
}

/**
 * The files of an archive; `null` when it is damaged, incomplete, or contains anything but regular files. Paths are as written, and must be checked.
 */
export async function readTar(tar: Buffer): Promise<readonly TarFile[] | null> {
  // The library accepts an archive that stops between two files; a complete one ends with two empty blocks.
  if (tar.length < endBytes || tar.subarray(-endBytes).some((byte) => byte !== 0)) return null
  const files: TarFile[] = []
  try {
    for await (const entry of Readable.from([tar]).pipe(extract())) {
      const { name, type } = entry.header
      if (type !== 'file') return null
      files.push({ path: name, content: await buffer(entry) })
    }
  } catch {
    return null
  }
  return files
}

/** The size of the two empty blocks that end an archive, in bytes. */
const endBytes = 1_024
