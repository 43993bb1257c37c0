/** Makes the keys under which the result of a setup is kept. Workspaces with equal keys can share the result. */
import { readFileSync } from 'node:fs'
import { sha256 } from '#platform/hashes.ts'
import { gitOrThrow, type Git } from '../workspace/git/git.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { isLockFile } from './setupFiles.ts'

export interface EnvironmentKey {
  /** The hash of the command, its variables, the system, the branch, and the ignore files at the commit, which decide what of the tree is kept. */
  readonly setup: string
  /** The hash of everything in `setup` and of the lock files at the commit. */
  readonly setupAndLocks: string
}

/** Hashes of the files of a commit that decide what is kept of a setup, and what a setup installs. */
export interface KeyFiles {
  readonly ignores: string
  readonly locks: string
}

export interface SetupIdentity {
  readonly command: string
  readonly variables: readonly { readonly name: string; readonly value: string }[]
  /** The system in which the setup runs, as `systemOf` names it. */
  readonly system: string
  /**
   * The branch on which the setup runs, with files of that branch. What it leaves is used on that branch, where whoever may change the branch decides
   * anyway what runs. Only what a setup of the default branch leaves is used on other branches too.
   */
  readonly branch: string
  /** The hashes that `keyFilesAt` returns. */
  readonly files: KeyFiles
}

export function environmentKey({ files, ...identity }: SetupIdentity): EnvironmentKey {
  const setup = sha256(JSON.stringify({ ...identity, ignores: files.ignores }))
  return { setup, setupAndLocks: sha256(JSON.stringify([setup, files.locks])) }
}

/** The hashes of the names and contents of all ignore files and of all lock files of a commit. Throws `GitFault`. */
export async function keyFilesAt(git: Git, gitDir: string, commit: string): Promise<KeyFiles> {
  const found: { readonly entry: string; readonly name: string }[] = []
  let rest = ''
  await gitOrThrow(git, {
    gitDir,
    args: ['ls-tree', '-r', '-z', commit],
    onStdout: (chunk) => {
      // Each entry ends with a tab and the path. Bytes are kept as they are, since names need not be UTF-8.
      const entries = (rest + chunk.toString('latin1')).split('\0')
      rest = entries.pop() ?? ''
      const named = entries.map((entry) => ({ entry, name: entry.split(/[\t/]/).at(-1) ?? '' }))
      found.push(...named.filter(({ name }) => isIgnoreFile(name) || isLockFile(name)))
      return 'more'
    },
  })
  const hashOf = (isOfKind: (name: string) => boolean) =>
    sha256(JSON.stringify(found.filter(({ name }) => isOfKind(name)).map(({ entry }) => entry)))
  return { ignores: hashOf(isIgnoreFile), locks: hashOf(isLockFile) }
}

/** Whether git reads files of this name, which has no folders, as lists of files to ignore. */
const isIgnoreFile = (name: string): boolean => name === '.gitignore'

/** Names the system that commands find in a sandbox: the image of its container, or the release of the host whose programs bubblewrap shows. */
export function systemOf({ kind, imageId }: Pick<Sandbox, 'kind' | 'imageId'>): string {
  return `${kind} ${process.arch} ${imageId ?? hostRelease()}`
}

function hostRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8')
  } catch {
    return ''
  }
}
