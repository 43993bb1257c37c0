/** Writes and reads the files of repositories, as described in gitrepository-layout(5). */
import { mkdirSync, writeFileSync } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ifAbsent } from '#platform/files.ts'

/**
 * Writes a new repository with the branch that is checked out, a configuration, and refs; refs without a commit are left out. git itself would need
 * two processes, one after the other, while an agent waits. The calls are synchronous, because they take microseconds, and asynchronous ones would
 * wait for their turn.
 */
export function layOut(
  gitDir: string,
  {
    branch,
    config,
    refs,
  }: {
    readonly branch: string
    readonly config: string
    readonly refs: readonly (readonly [name: string, commit: string | null])[]
  },
): void {
  const files = [
    ['HEAD', `ref: refs/heads/${branch}`],
    ['config', config.trimEnd()],
    ...refs.flatMap(([name, commit]) => (commit === null ? [] : [[name, commit] as const])),
  ] as const
  const folders = ['objects/info', 'objects/pack', 'refs/tags', 'refs/heads']
  const all = new Set([...folders, ...files.map(([name]) => dirname(name))])
  for (const folder of all) mkdirSync(join(gitDir, folder), { recursive: true })
  for (const [name, line] of files) writeFileSync(join(gitDir, name), `${line}\n`)
}

/** The git configuration of the repositories that are made with `layOut`. */
export const repositoryConfig = `[core]
repositoryformatversion = 0
filemode = true
bare = false
logallrefupdates = true
`

/** Lets a repository read missing objects from other object stores. */
export async function writeAlternates(gitDir: string, ...objects: readonly string[]): Promise<void> {
  const file = join(gitDir, 'objects', 'info', 'alternates')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(`${file}.half`, objects.map((folder) => `${folder}\n`).join(''))
  await rename(`${file}.half`, file)
}

/** The other object stores that a repository reads from; empty when the repository does not exist. */
export async function alternatesOf(gitDir: string): Promise<readonly string[]> {
  const written = await readFile(join(gitDir, 'objects', 'info', 'alternates'), 'utf8').catch(ifAbsent)
  return (written ?? '').split('\n').filter((folder) => folder !== '')
}

/**
 * Copies the list of commits at which the shallow history ends from a mirror. Without this list, git would report the parents of these commits, which
 * were not fetched, as damage.
 */
export async function copyShallow(mirrorDir: string, gitDir: string): Promise<void> {
  const half = join(gitDir, 'shallow.half')
  const isCopied = await copyFile(join(mirrorDir, 'shallow'), half).then(() => true, ifAbsent)
  if (isCopied) await rename(half, join(gitDir, 'shallow'))
}

/** Whether a repository has a shallow history. */
export async function isShallowRepository(gitDir: string): Promise<boolean> {
  return (await lstat(join(gitDir, 'shallow')).catch(ifAbsent)) !== undefined
}

/** Removes incomplete packs that a killed git left in an object store. No other git may be running there. */
export async function removeHalfPacks(objects: string): Promise<void> {
  const packs = join(objects, 'pack')
  const names = (await readdir(packs).catch(ifAbsent)) ?? []
  for (const name of names) if (name.startsWith('tmp_')) await rm(join(packs, name), { force: true })
}

/** The text as a value in a configuration file of git. */
export function configValue(text: string): string {
  return `"${text.replace(/\p{Cc}/gu, ' ').replace(/["\\]/g, '\\$&')}"`
}
