/** Installs the imitation of `cursor-agent` in a folder as Cursor's installer does: the script, its index.js, and a node of its own. */
import { chmod, copyFile, link, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('cursorAgent/', import.meta.url))

/** Returns the path of the program, which runs with and without a sandbox. */
export async function installCursorAgent(folder: string): Promise<string> {
  const place = join(folder, 'cursor-agent')
  await mkdir(place)
  // The sandbox's own user must be able to read the folder.
  await chmod(place, 0o755)
  for (const file of ['cursor-agent', 'index.js', 'package.json'])
    await copyFile(join(source, file), join(place, file))
  await link(process.execPath, join(place, 'node')).catch(() =>
    copyFile(process.execPath, join(place, 'node')),
  )
  return join(place, 'cursor-agent')
}
