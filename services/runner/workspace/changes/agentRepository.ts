/** What the agent's own `.git` says: its branch and the files it tracks. Git is never run on that repository. */
import { realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isBranchName } from '#domain/kernel/names.ts'
import { readPlain } from '../agentFiles.ts'
import { endedWell, type Git } from '../git/git.ts'
import type { Workspace } from '../workspace.ts'
import { splitNul, type ScratchIndex } from './tree.ts'

/** Names of branches and ids of commits are shorter. */
const largestHead = 4_096
const shortId = 7

/**
 * The branch that the agent's git is on, or the short id of a commit if it is on none. Only `HEAD` is read; if git did not write it, this is the
 * branch that the workspace was made on.
 */
export async function currentBranchOf({ dir, branch }: Pick<Workspace, 'dir' | 'branch'>): Promise<string> {
  const root = await realpath(dir).catch(() => undefined)
  const read = root === undefined ? null : await readPlain(root, '.git/HEAD', largestHead)
  return standsOn(read?.toString('utf8') ?? '') ?? branch
}

function standsOn(head: string): string | undefined {
  const name = /^ref: refs\/heads\/(.+)\n$/.exec(head)?.[1]
  if (name !== undefined) return isBranchName(name) ? name : undefined
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n$/.test(head) ? head.slice(0, shortId) : undefined
}

/** An index of 500,000 files is smaller. */
const largestIndex = 64 * 1024 * 1024

/**
 * Which of the paths the agent's git tracks. The index is copied as a plain file and read in the sandbox; an index that git did not write tracks
 * nothing.
 */
export async function trackedByAgent(
  treeGit: Git,
  { dir, privateGitDir: gitDir }: Workspace,
  scratch: ScratchIndex,
  paths: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const root = await realpath(dir).catch(() => undefined)
  const index = root === undefined ? null : await readPlain(root, '.git/index', largestIndex)
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
