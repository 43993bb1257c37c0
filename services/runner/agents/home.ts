/** The agent's private home: what an agent finds there when it starts. */
import { constants } from 'node:fs'
import { chown, lstat, mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { HostUser } from '#platform/childProcess.ts'
import type { HomeFile } from './port.ts'

/** A repository's files with instructions for agents, in the order in which they are read. */
export const instructionFiles = ['CLAUDE.md', 'AGENTS.md'] as const

/**
 * Writes files into a home that an agent may have changed: follows no link in it, and removes whatever is in the way and not a plain folder or
 * file. Not while the agent runs.
 */
export async function writeHome(home: string, files: readonly HomeFile[], owner?: HostUser): Promise<void> {
  for (const file of files) {
    const path = join(home, file.path)
    await makeFolders(home, dirname(file.path), owner)
    const there = await lstat(path).catch(() => undefined)
    const isPlain = there?.isFile() === true && there.nlink === 1
    if (isPlain && file.onlyOnce) continue
    if (!isPlain) await rm(path, { recursive: true, force: true })
    const handle = await open(
      path,
      constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
      0o600,
    )
    try {
      await handle.writeFile(file.content)
      if (owner !== undefined) await handle.chown(owner.uid, owner.gid)
    } finally {
      await handle.close()
    }
  }
}

async function makeFolders(home: string, folder: string, owner: HostUser | undefined): Promise<void> {
  let path = home
  for (const name of folder.split('/').filter((part) => part !== '.')) {
    path = join(path, name)
    const there = await lstat(path).catch(() => undefined)
    if (there?.isDirectory()) continue
    await rm(path, { force: true })
    await mkdir(path, { mode: 0o700 })
    if (owner !== undefined) await chown(path, owner.uid, owner.gid)
  }
}
