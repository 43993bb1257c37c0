/** The agent's private home: what an agent finds there when it starts. */
import { constants } from 'node:fs'
import { chown, lstat, mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { HostUser } from '#platform/childProcess.ts'
import type { HomeFile } from './port.ts'

/** A repository's files with instructions for agents, in the order in which they are read. */
export const instructionFiles = ['CLAUDE.md', 'AGENTS.md'] as const

/**
 * The files of `claude`'s home. Only the user's settings are read (a repository's could run commands), which leaves the
 * repository's instructions out as well: the user's `CLAUDE.md` gives back those of `instructionFiles` that are `present`.
 * `workspace` is where the box has the repository.
 */
export function claudeHome(present: ReadonlySet<string>, workspace = '/workspace'): readonly HomeFile[] {
  const includes = instructionFiles
    .filter((file) => present.has(file))
    .map((file) => `@${workspace}/${file}\n`)
  return [
    { path: '.claude/CLAUDE.md', content: includes.join(''), onlyOnce: false },
    { path: '.claude/settings.json', content: `${JSON.stringify(settings, null, 2)}\n`, onlyOnce: false },
    { path: '.claude.json', content: `${JSON.stringify(state, null, 2)}\n`, onlyOnce: true },
  ]
}

const settings = {
  // The commits of a task are the person's; who wrote them is for the person to say.
  includeCoAuthoredBy: false,
  skipDangerousModePermissionPrompt: true,
}
const state = { hasCompletedOnboarding: true, bypassPermissionsModeAccepted: true }

/**
 * Writes files into a home that an agent may have had its hands on: no link in it is followed, and whatever else than a folder or a
 * file stands in the way is taken away. Not while the agent runs.
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
