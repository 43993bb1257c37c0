/**
 * Limits what a commit may write to the disk, before it is checked out. A repository of a few kilobytes can contain the same folder ten times on ten
 * levels: git would keep all of its entries in memory, and write all of its files.
 */
import { LRUCache } from 'lru-cache'
import type { Git } from './git.ts'
import { endedWell, GitFault } from './git.ts'

export interface CheckoutLimits {
  /** The number of files and folders. */
  readonly entries: number
  /** The size of all files together, in bytes. */
  readonly bytes: number
}

/** Returns a sentence that refuses a commit, or `undefined` if it may be checked out. Throws `GitFault`. */
export type CheckCheckout = (
  git: Git,
  at: { readonly gitDir: string; readonly commit: string },
) => Promise<string | undefined>

/** How many commits are remembered as small enough. A commit never changes. */
const remembered = 1_000
const looksForMs = 120_000
/** The size limit of a record in bytes. It is longer than any path that a file system accepts. */
const longestRecord = 16_384

export function openCheckoutLimits(limits: CheckoutLimits): CheckCheckout {
  const fine = new LRUCache<string, true>({ max: remembered })
  return async (git, { gitDir, commit }) => {
    if (fine.has(commit)) return undefined
    const count = counting(limits)
    const args = ['ls-tree', '-r', '-t', '-z', '--long', '--full-tree', commit]
    const call = { gitDir, args, timeoutMs: looksForMs, onStdout: count.take }
    const finished = await git(call)
    const refusal = count.refusal()
    if (refusal !== undefined) return refusal
    if (finished.endedBy === 'time_limit')
      return `The repository is too large to check out here: its files could not be counted within ${looksForMs / 1_000} seconds.`
    if (!endedWell(finished)) throw new GitFault(call, finished)
    fine.set(commit, true)
    return undefined
  }
}

/** Counts the records of `git ls-tree -z --long` as they arrive, and stops when there are too many. */
export function counting({ entries, bytes }: CheckoutLimits): {
  take(chunk: Buffer): 'more' | 'enough'
  refusal(): string | undefined
} {
  let seen = 0
  let size = 0
  let rest = ''
  let refused: string | undefined
  const refuse = (what: string) => (refused = `The repository is too large to check out here: ${what}.`)
  return {
    take(chunk) {
      // Names may contain any bytes, but sizes and the ends of records are ASCII.
      const records = (rest + chunk.toString('latin1')).split('\0')
      rest = records.pop() ?? ''
      for (const record of records) {
        seen += 1
        size += Number(/^\d+ \w+ [0-9a-f]+ +(\d+)\t/.exec(record)?.[1] ?? 0)
      }
      if (rest.length > longestRecord) refuse('a path in it is longer than any file system takes')
      else if (seen > entries)
        refuse(`it has more than ${entries.toLocaleString('en-US')} files and folders (REPOSITORY_ENTRIES)`)
      else if (size > bytes)
        refuse(`its files take more than ${Number((bytes / 1e9).toFixed(3))} GB (REPOSITORY_GB)`)
      return refused === undefined ? 'more' : 'enough'
    },
    refusal: () => refused,
  }
}
