/** Another person who pushes to a branch at the local code host, from a copy of their own. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { commit, git, gitDone } from '../contracts/codeHost.fixture.ts'

/** The only repository of a product's code host, as it lies on the disk. */
export async function bareRepository(dataDir: string): Promise<string> {
  const folder = join(dataDir, 'codehost')
  const entries = await readdir(folder, { recursive: true })
  const found = entries.find((path) => path.endsWith('.git'))
  if (found === undefined) throw new Error(`The code host has no repository: ${entries.join(', ')}`)
  return join(folder, found)
}

/** Commits the files on the branch and pushes it; the copy in `clone` is made when it is not there. */
export async function pushElsewhere(
  { dataDir, clone, branch }: { dataDir: string; clone: string; branch: string },
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const bare = await bareRepository(dataDir)
  await git(dataDir, ['clone', '-q', '-b', branch, bare, clone])
  await gitDone(clone, ['pull', '-q', '--ff-only', 'origin', branch])
  await commit(clone, branch, files)
  await gitDone(clone, ['push', '-q', 'origin', branch])
}
