/**
 * The home of one command: empty at its start, gone with its end. The agent never sees it, and a command never sees the agent's: what an
 * agent writes into its home, as settings of git or of a shell, would run with the secrets that a command is given.
 */
import { chown, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { removeFolder } from './ownedFolders.ts'
import type { Workspace } from './workspace.ts'

/** `use` is given the workspace as a command has it. Nothing of the command may run when it has ended. `path`: PATH. */
export async function withCommandHome<T>(
  workspace: Workspace,
  path: string,
  use: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const { dir, owner } = workspace
  // Beside the tree: it is counted with the workspace, and goes with it.
  const homeDir = join(dirname(dir), 'command-home')
  // A server that was killed may have left one.
  await removeFolder(homeDir, path)
  await mkdir(homeDir, { mode: 0o700 })
  try {
    if (owner) await chown(homeDir, owner.uid, owner.gid)
    return await use({ ...workspace, homeDir })
  } finally {
    await removeFolder(homeDir, path)
  }
}
