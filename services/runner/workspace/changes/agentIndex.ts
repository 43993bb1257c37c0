/** What git tracks in a task's tree, as the index of the agent's own `.git` says: copied as a plain file, and read where what an agent wrote may be. */
import { realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { endedWell } from '../git/git.ts'
import type { Git } from '../git/git.ts'
import { readPlain } from '../plainFile.ts'
import { splitNul, type ScratchIndex } from './tree.ts'
import type { Workspace } from '../workspace.ts'

/** An index of 500,000 files is smaller. */
const mostBytes = 64 * 1024 * 1024

/** Those of the paths that the agent's index has. What is no index as git writes it has none. */
export async function trackedByAgent(
  treeGit: Git,
  { dir, privateGitDir: gitDir }: Workspace,
  scratch: ScratchIndex,
  paths: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const root = await realpath(dir).catch(() => undefined)
  const index = root === undefined ? null : await readPlain(root, '.git/index', mostBytes)
  if (index === null) return new Set()
  const file = join(dirname(scratch.file), 'agent-index')
  await writeFile(file, index)
  const tracked = new Set<string>()
  let rest: Buffer = Buffer.alloc(0)
  const listed = await treeGit({
    gitDir,
    env: { GIT_INDEX_FILE: file },
    args: ['ls-files', '-z', '--cached'],
    onStdout: (chunk) => {
      const read = splitNul(Buffer.concat([rest, chunk]))
      rest = read.rest
      for (const path of read.whole.map(String)) if (paths.has(path)) tracked.add(path)
      return 'more'
    },
  })
  return endedWell(listed) ? tracked : new Set()
}
