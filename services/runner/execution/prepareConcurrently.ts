/**
 * A workspace while its mirror is being refreshed. Where there is a mirror it is made meanwhile, on the mirror as it was, and made again only
 * when the branches that it stands on have moved: mostly they have not, and an agent waits for both.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Mirror } from '../workspace/git/mirror.ts'
import type { BaseCommits } from '../workspace/workspaceGit.ts'
import type { PrepareResult } from '../workspace/createWorkspace.ts'
import type { Failed } from './failure.ts'

export type Prepared = Extract<PrepareResult, { kind: 'ready' }>

interface Making {
  /** The mirror as it is before the refresh. */
  find(): Promise<Mirror | undefined>
  /** The workspace on a mirror: made, or the one that is there. */
  make(mirror: Mirror): Promise<Prepared | Failed>
  /** What a new one would stand on. */
  ground(mirror: Mirror): Promise<BaseCommits | 'no_such_branch' | 'no_such_commit'>
  /** Ends what was begun in one that is being made. */
  close(): Promise<void>
  remove(): Promise<void>
}

/** Nothing is left of a workspace that was made for somebody who may not have it; when this ends, all of it has. */
export async function prepareConcurrently(
  refreshing: Promise<{ readonly kind: 'ready'; readonly mirror: Mirror } | Failed>,
  { find, make, ground, close, remove }: Making,
): Promise<Prepared | Failed> {
  const meanwhile = async () => {
    const before = await find()
    return before && make(before)
  }
  const [making, refresh] = await Promise.allSettled([meanwhile(), refreshing])
  // What failed on the old mirror is tried again on the new one.
  const made = making.status === 'fulfilled' && making.value?.kind === 'ready' ? making.value : undefined
  const fresh = refresh.status === 'fulfilled' && refresh.value.kind === 'ready' ? refresh.value : undefined
  if (made && fresh) {
    if (made.madeOn === null) return made
    // Also where this refresh brought nothing: another task's may have, in between.
    if (isDeepStrictEqual(made.madeOn, await ground(fresh.mirror))) return made
  }
  const isUnwanted = made !== undefined && made.madeOn !== null
  // What is left of one that failed is removed as well, when it is made again.
  if (isUnwanted || making.status === 'rejected') await close()
  if (isUnwanted) await remove()
  if (refresh.status === 'rejected') throw refresh.reason
  return refresh.value.kind === 'failed' ? refresh.value : make(refresh.value.mirror)
}
