/** Repositories written file by file, as gitrepository-layout(5) has them. */
import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * A new repository on a branch, with these refs; one without a commit is left out. By hand: git would take two processes for it, one after
 * the other, and an agent waits.
 */
export async function layOut(
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
): Promise<void> {
  const files = [
    ['HEAD', `ref: refs/heads/${branch}`],
    ['config', config.trimEnd()],
    ...refs.flatMap(([name, commit]) => (commit === null ? [] : [[name, commit] as const])),
  ] as const
  const folders = ['objects/info', 'objects/pack', 'refs/tags', 'refs/heads']
  const all = new Set([...folders, ...files.map(([name]) => dirname(name))])
  await Promise.all([...all].map((folder) => mkdir(join(gitDir, folder), { recursive: true })))
  await Promise.all(files.map(([name, line]) => writeFile(join(gitDir, name), `${line}\n`)))
}

/** What every one of ours is configured with. */
export const repositoryConfig = `[core]
repositoryformatversion = 0
filemode = true
bare = false
logallrefupdates = true
`

/** Has a repository read objects that it has not from another's. */
export async function writeAlternates(gitDir: string, objects: string): Promise<void> {
  await mkdir(join(gitDir, 'objects', 'info'), { recursive: true })
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), `${objects}\n`)
}

/** Where the history of a large repository ends in its mirror, which is no fault. */
export async function copyShallow(mirrorDir: string, gitDir: string): Promise<void> {
  const half = join(gitDir, 'shallow.half')
  try {
    await copyFile(join(mirrorDir, 'shallow'), half)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
    throw error
  }
  await rename(half, join(gitDir, 'shallow'))
}

/** A value as a configuration file has it. */
export function configValue(text: string): string {
  return `"${text.replace(/\p{Cc}/gu, ' ').replace(/["\\]/g, '\\$&')}"`
}
