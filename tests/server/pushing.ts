/** Another person who pushes to a branch at the local code host, from a clone of their own. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { loadMasterKey } from '#platform/vault/masterKey.ts'
import { openSqliteVault } from '#platform/vault/sqlite.ts'
import { commit, git, gitDone } from '../contracts/codeHost.fixture.ts'

/** The only repository of a product's code host, as a folder on the disk. */
export async function bareRepository(dataDir: string): Promise<string> {
  const folder = join(dataDir, 'codehost')
  const entries = await readdir(folder, { recursive: true })
  const found = entries.find((path) => path.endsWith('.git'))
  if (found === undefined) throw new Error(`The code host has no repository: ${entries.join(', ')}`)
  return join(folder, found)
}

/** The branches of that repository. */
export async function branchesAtHost(dataDir: string): Promise<readonly string[]> {
  const args = ['for-each-ref', '--format=%(refname:short)', 'refs/heads']
  return (await gitDone(await bareRepository(dataDir), args)).split('\n')
}

/** Commits the files on the branch and pushes it; the clone in `clone` is created if necessary. */
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

/** The person's token for the code host, from where it is stored; the product must be stopped. */
export async function codeHostToken(dataDir: string, userId: string): Promise<string> {
  const masterKey = await loadMasterKey({ configured: undefined, file: join(dataDir, 'master.key') })
  const vault = openSqliteVault({ file: join(dataDir, 'vault.sqlite'), masterKey })
  try {
    const kept = (await vault.getSecret(`user:${userId}`, 'code-host')) ?? '{}'
    return z.object({ accessToken: z.string() }).parse(JSON.parse(kept)).accessToken
  } finally {
    await vault.close()
  }
}
