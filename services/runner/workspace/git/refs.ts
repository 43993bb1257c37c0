/** Reads the refs of a repository: as git lists them, or from its files by gitrepository-layout(5), which starts no process. */
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { gitText } from './git.ts'
import type { Git } from './git.ts'

/** Object names by the names of refs. */
export type Refs = ReadonlyMap<string, string>

/** The object names of all refs, or of those that match one of the `patterns`, by the refs' full names. */
export async function refsOf(git: Git, gitDir: string, patterns: readonly string[] = []): Promise<Refs> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', '--', ...patterns]
  const listed = await gitText(git, { gitDir, args })
  const lines = listed === '' ? [] : listed.split('\n')
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

/** The commits of these branches; branches that do not exist are left out. */
export async function headsOf(git: Git, gitDir: string, branches: readonly string[]): Promise<Refs> {
  const patterns = branches.map((name) => `refs/heads/${name}`)
  const refs = await refsOf(git, gitDir, patterns)
  const found = branches.map((name) => [name, refs.get(`refs/heads/${name}`)] as const)
  return known(found)
}

/**
 * The commits of these branches, read from git's files: a ref's own file takes precedence over `packed-refs`. Only for our own directories, whose
 * refs git wrote. `branches` must contain valid names of branches. Synchronous, as it takes microseconds and an agent waits for it.
 */
export function headsWritten(gitDir: string, branches: readonly string[]): Refs {
  const packed = textWritten(gitDir, 'packed-refs')
  const loose = branches.map((name) => textWritten(gitDir, `refs/heads/${name}`))
  const found = branches.map((name, index) => {
    const packedLine = () => packed.split('\n').find((line) => line.endsWith(` refs/heads/${name}`))
    return [name, commitIn(loose[index]) ?? commitIn(packedLine())] as const
  })
  return known(found)
}

/** How many ref files are read at most. If there are more, the caller lets git list the refs. */
const maxFiles = 500

/**
 * All refs in git's files by their full names; `undefined` when there are too many files. Empty when git stores its refs in another way. Only for our
 * own directories, whose refs git wrote.
 */
export async function refsWritten(gitDir: string): Promise<Refs | undefined> {
  const entries = await readdir(join(gitDir, 'refs'), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  if (files.length > maxFiles) return undefined
  const names = files.map(({ parentPath, name }) => relative(gitDir, join(parentPath, name)))
  const [packed, ...loose] = await Promise.all([
    textIn(gitDir, 'packed-refs'),
    ...names.map((name) => textIn(gitDir, name)),
  ])
  const found = [
    ...packed.split('\n').map((line) => [line.slice(41), commitIn(line)] as const),
    ...names.map((name, index) => [name, commitIn(loose[index])] as const),
  ]
  return known(found)
}

/** The text of a file; empty when it cannot be read. */
function textIn(gitDir: string, path: string): Promise<string> {
  return readFile(join(gitDir, path), 'utf8').catch(() => '')
}

/** Like `textIn`, but synchronous. */
export function textWritten(gitDir: string, path: string): string {
  try {
    return readFileSync(join(gitDir, path), 'utf8')
  } catch {
    return ''
  }
}

function commitIn(line: string | undefined): string | undefined {
  return /^([0-9a-f]{40})(?: |\n|$)/.exec(line ?? '')?.[1]
}

function known(found: readonly (readonly [name: string, object: string | undefined])[]): Refs {
  return new Map(found.flatMap(([name, object]) => (object === undefined ? [] : [[name, object] as const])))
}
