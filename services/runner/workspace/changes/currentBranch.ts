/** Where git stands in a task's tree, as the agent's own `.git` says: only its `HEAD` is read, and no git is run on it. */
import { realpath } from 'node:fs/promises'
import { isBranchName } from '#domain/kernel/names.ts'
import { readPlain } from '../plainFile.ts'
import type { Workspace } from '../workspace.ts'

/** Names of branches and ids of commits are shorter. */
const mostBytes = 4_096
const shortId = 7

/**
 * The branch, or the short id of a commit where it stands on none. What is no `HEAD` as git writes it says nothing: then
 * it is the branch that the workspace was made on.
 */
export async function currentBranchOf({ dir, branch }: Pick<Workspace, 'dir' | 'branch'>): Promise<string> {
  const root = await realpath(dir).catch(() => undefined)
  const read = root === undefined ? null : await readPlain(root, '.git/HEAD', mostBytes)
  return standsOn(read?.toString('utf8') ?? '') ?? branch
}

function standsOn(head: string): string | undefined {
  const name = /^ref: refs\/heads\/(.+)\n$/.exec(head)?.[1]
  if (name !== undefined) return isBranchName(name) ? name : undefined
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n$/.test(head) ? head.slice(0, shortId) : undefined
}
