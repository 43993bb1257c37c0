/** Measures the workspaces of runs while they go on, and stops the run that takes more of the disk than it may. */
import { dirname } from 'node:path'
import type { DiskLimits } from '#platform/config/config.ts'
import { freeBytes, inGigabytes, sizeOf } from './diskUse.ts'
import type { Workspace } from './workspace.ts'
import type { Stopping } from '../execution/stopping.ts'

export interface DiskWatch {
  /** Measures a run's workspace until the returned function is called. */
  watch(run: { readonly workspace: Workspace; readonly stop: Stopping }): () => void
}

export interface DiskWatchOptions {
  /** Workspaces are below it. */
  readonly root: string
  /** PATH. */
  readonly path: string
  readonly limits: Pick<DiskLimits, 'workspace' | 'leastFree'>
  readonly onFault: (fault: unknown) => void
  /** How often free space is looked at; a second when not given. */
  readonly everyMs?: number
}

interface Watched {
  readonly folder: string
  readonly stop: Stopping
  /** Bytes at the first measurement, and at the last. */
  first: number | undefined
  last: number
}

/** Between two measurements, in milliseconds. A starved one takes long: what fills the disk meanwhile must not be left alone for as long as that suggests. */
const betweenMs = { least: 2_000, most: 15_000 }
const shareOfTime = 10

/** How long after a measurement the next one is due: measuring takes a tenth of the time, within bounds. All in milliseconds. */
export function untilNext(tookMs: number): number {
  return Math.min(betweenMs.most, Math.max(betweenMs.least, tookMs * shareOfTime))
}

export function openDiskWatch({ root, path, limits, onFault, everyMs = 1_000 }: DiskWatchOptions): DiskWatch {
  const watched = new Set<Watched>()
  let timer: NodeJS.Timeout | undefined
  let dueAt = 0

  async function measure(): Promise<void> {
    const begun = performance.now()
    for (const run of watched) {
      const size = await sizeOf(run.folder, path)
      if (!watched.has(run)) continue
      if (size === 'unknown') {
        run.stop.stop('disk_limit', 'Stopped: it created more files than could be counted in a minute.')
        continue
      }
      run.first ??= size
      run.last = size
      // One that was over the limit before may be made smaller.
      if (size > limits.workspace && size > run.first) run.stop.stop('disk_limit', tooMuch(limits.workspace))
    }
    dueAt = performance.now() + untilNext(performance.now() - begun)
  }

  async function look(): Promise<void> {
    const isShort = (await freeBytes(root)) < limits.leastFree
    if (!isShort && performance.now() < dueAt) return
    await measure()
    if (!isShort || (await freeBytes(root)) >= limits.leastFree) return
    // One at a time: what it gives back may be enough for the others.
    const growth = ({ first = 0, last }: Watched) => last - first
    const largest = [...watched].toSorted((one, other) => growth(other) - growth(one))[0]
    if (largest !== undefined && growth(largest) > 0) largest.stop.stop('disk_limit', diskFull)
  }

  function schedule(): void {
    if (timer !== undefined || watched.size === 0) return
    timer = setTimeout(async () => {
      await look().catch(onFault)
      timer = undefined
      schedule()
    }, everyMs)
    timer.unref()
  }

  return {
    watch({ workspace, stop }) {
      const run: Watched = { folder: dirname(workspace.dir), stop, first: undefined, last: 0 }
      watched.add(run)
      dueAt = 0
      schedule()
      return () => {
        watched.delete(run)
      }
    },
  }
}

const tooMuch = (limit: number): string =>
  `Stopped: its files take up more than ${inGigabytes(limit)} of disk space. Remove large files, or ask the operator to raise WORKSPACE_GB.`
const diskFull =
  "Stopped: the server's disk is nearly full, and this run was using the most space. Its files are kept."
