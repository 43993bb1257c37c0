/** Writes the files that an agent finds in its private home, and chooses the instructions and commands for them. */
import {
  closeSync,
  constants,
  fchownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { HostUser } from '#platform/childProcess.ts'
import type { OwnCommand } from '#domain/user/instructions.ts'
import { noInstructions } from '#domain/views/instructions.ts'
import { abilitiesIn } from './abilities.ts'
import type { Brought, HomeFile } from './port.ts'

/** The names of a repository's files with instructions for agents, in the order in which they are read. */
export const instructionFiles = ['CLAUDE.md', 'AGENTS.md'] as const

export const nothingBrought: Brought = { files: [], ...noInstructions }

/** A person's own commands, except those with the name of a skill or command of the repository. */
export function unreplaced({ files, commands }: Brought): readonly OwnCommand[] {
  const taken = new Set(abilitiesIn(files).flatMap(({ kind, name }) => (kind === 'subagent' ? [] : [name])))
  return commands.filter(({ name }) => !taken.has(name))
}

/** The instruction files in folders below the repository's root, except in `.claude`. */
export function nestedInstructions({ files }: Brought): readonly NestedInstructions[] {
  return files.flatMap(({ path, content }) => {
    const [, folder] = /^(?!\.claude\/)(.+)\/(?:CLAUDE|AGENTS)\.md$/.exec(path) ?? []
    return folder === undefined ? [] : [{ folder, path, text: content.toString('utf8') }]
  })
}

interface NestedInstructions {
  readonly folder: string
  /** The path of the instruction file, relative to the repository. */
  readonly path: string
  readonly text: string
}

/**
 * Writes files into a home that an agent may have changed, and removes the folders `emptied` with everything in them. Follows no links in the home,
 * and removes a link that is in the way. Must not be called while the agent or a program beside it runs. Mostly synchronous, since each file
 * operation takes microseconds and an agent waits.
 */
export async function writeHome(
  home: string,
  files: readonly HomeFile[],
  owner?: HostUser,
  emptied: readonly string[] = [],
): Promise<void> {
  for (const folder of emptied) {
    makeFolders(home, dirname(folder), owner)
    const path = join(home, folder)
    if (lstatSync(path, { throwIfNoEntry: false })) await rm(path, { recursive: true, force: true })
  }
  for (const [index, file] of files.entries()) {
    // A repository may bring hundreds of files, and other work must get its turn.
    if (index % 20 === 19) await setImmediate()
    const path = join(home, file.path)
    makeFolders(home, dirname(file.path), owner)
    const there = lstatSync(path, { throwIfNoEntry: false })
    const isPlain = there?.isFile() === true && there.nlink === 1
    if (isPlain && file.onlyOnce) continue
    if (!isPlain) await rm(path, { recursive: true, force: true })
    const descriptor = openSync(
      path,
      constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
      file.isExecutable ? 0o700 : 0o600,
    )
    try {
      writeFileSync(descriptor, file.content)
      if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid)
    } finally {
      closeSync(descriptor)
    }
  }
}

function makeFolders(home: string, folder: string, owner: HostUser | undefined): void {
  let path = home
  for (const name of folder.split('/').filter((part) => part !== '.')) {
    path = join(path, name)
    const there = lstatSync(path, { throwIfNoEntry: false })
    if (there?.isDirectory()) continue
    rmSync(path, { force: true })
    mkdirSync(path, { mode: 0o700 })
    if (owner !== undefined) lchownSync(path, owner.uid, owner.gid)
  }
}
