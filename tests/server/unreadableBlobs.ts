/** Makes blobs unreadable for a while, as on a failing disk: they exist, but cannot be read. */
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Affects all blobs below this folder. Calling the result makes them readable again. */
export async function unreadableBlobs(folder: string): Promise<() => Promise<void>> {
  const all = await readdir(folder, { recursive: true })
  const blobs = all.filter((name) => /\/[0-9a-f]{64}$/.test(name)).map((name) => join(folder, name))
  for (const blob of blobs) {
    await rename(blob, `${blob}.away`)
    await mkdir(blob)
  }
  return async () => {
    for (const blob of blobs) {
      await rm(blob, { recursive: true })
      await rename(`${blob}.away`, blob)
    }
  }
}
