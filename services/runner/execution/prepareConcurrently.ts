/**
 * Makes a workspace while its mirror is being refreshed, so that an agent does not wait for one after the other. If there is a mirror already, the
 * workspace is made from this mirror before the refresh ends. The workspace is made again if the branches that it starts from have moved, which is
 * rare.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Mirror } from '../workspace/git/mirror.ts'
import type { BaseCommits } from '../workspace/workspaceGit.ts'
import type { PrepareResult } from '../workspace/createWorkspace.ts'
import type { Failed } from './failure.ts'

export type Prepared = Extract<PrepareResult, { kind: 'ready' }>

interface Making {
  /** Returns the mirror as it is before the refresh; `undefined` when there is none, or when no workspace can be made from it yet. */
  find(): Promise<Mirror | undefined>
  /** Makes a workspace from a mirror, or returns the existing workspace. */
  make(mirror: Mirror): Promise<Prepared | Failed>
  /** Returns the commits that a new workspace would start from. */
  ground(mirror: Mirror): Promise<BaseCommits | 'no_such_branch' | 'no_such_commit'>
  /** Closes everything that was opened in a workspace that is being made. */
  close(): Promise<void>
  remove(): Promise<void>
}

/**
 * Prepares a workspace. If the refresh fails, for example because the person has no access, a workspace that was just made is removed again. When
 * this settles, all work that it started has ended.
 */
export async function prepareConcurrently(
  refreshing: Promise<{ readonly kind: 'ready'; readonly mirror: Mirror } | Failed>,
  { find, make, ground, close, remove }: Making,
): Promise<Prepared | Failed> {
  const meanwhile = async () => {
    const before = await find()
    return before && make(before)
  }
  const [making, refresh] = await Promise.allSettled([meanwhile(), refreshing])
  // A failure with the old mirror does not count, since the workspace is then made from the refreshed mirror.
  const made = making.status === 'fulfilled' && making.value?.kind === 'ready' ? making.value : undefined
  const fresh = refresh.status === 'fulfilled' && refresh.value.kind === 'ready' ? refresh.value : undefined
  if (made && fresh) {
    if (made.madeOn === null) return made
    // Compares the commits even if this refresh fetched nothing: another task's refresh may have moved the branches in between.
    if (isDeepStrictEqual(made.madeOn, await ground(fresh.mirror))) return made
  }
  const isUnwanted = made !== undefined && made.madeOn !== null
  // Leftovers of a failed attempt stay: the next attempt removes them.
  if (isUnwanted || making.status === 'rejected') await close()
  if (isUnwanted) await remove()
  if (refresh.status === 'rejected') throw refresh.reason
  return refresh.value.kind === 'failed' ? refresh.value : make(refresh.value.mirror)
}
