/** The files of a task's workspace on the disk. */
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** The mode and content of each file, by path. */
export type Files = Readonly<Record<string, string>>

/** All files except the agent's `.git`. */
export async function workspaceFiles(
  dataDir: string,
  taskId: string,
  isWanted: (path: string) => boolean = () => true,
): Promise<Files> {
  const root = join(dataDir, 'runner', 'tasks', taskId, 'tree')
  const found: Record<string, string> = {}
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(root.length + 1)
    if (entry.isDirectory() || name.startsWith('.git/') || !isWanted(name)) continue
    const { mode } = await lstat(path)
    found[name] = entry.isSymbolicLink()
      ? `link ${await readlink(path)}`
      : `${mode & 0o100 ? 'x' : '-'} ${(await readFile(path)).toString('latin1')}`
  }
  return found
}
