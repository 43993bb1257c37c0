/** How much of the disk workspaces take: measured, and watched while runs go on. */
import { statfs } from 'node:fs/promises'
import { run } from '#platform/childProcess.ts'
import { dirname } from 'node:path'
import type { DiskLimits } from '#platform/config/config.ts'
import type { Workspace } from './workspace.ts'

const measuresForMs = 60_000

/** Bytes that folders take on the disk, by `du`. One that is being removed meanwhile counts as far as it was seen. */
export async function sizesOf(
  dirs: readonly string[],
  path: string,
  timeoutMs = 2 * measuresForMs,
): Promise<ReadonlyMap<string, number>> {
  return (await measured(dirs, path, timeoutMs)).sizes
}

/** Bytes that one folder takes; `unknown` when it could not be counted within a minute. */
export async function sizeOf(dir: string, path: string): Promise<number | 'unknown'> {
  const { sizes, isWhole } = await measured([dir], path, measuresForMs)
  return isWhole ? (sizes.get(dir) ?? 0) : 'unknown'
}

async function measured(dirs: readonly string[], path: string, timeoutMs: number) {
  if (dirs.length === 0) return { sizes: new Map<string, number>(), isWhole: true }
  const { stdout, endedBy } = await run('du', ['-s', '-k', '--', ...dirs], {
    env: { PATH: path, LC_ALL: 'C.UTF-8' },
    timeoutMs,
    // It names each path that it cannot read: that output is not kept.
    maxOutputBytes: 4 * 1024 ** 2,
  })
  const lines = stdout.toString('utf8').split('\n')
  const sizes = new Map(
    lines.flatMap((line) => {
      const [, kilobytes, dir] = /^(\d+)\t(.*)$/.exec(line) ?? []
      return kilobytes === undefined || dir === undefined ? [] : [[dir, Number(kilobytes) * 1_024] as const]
    }),
  )
  return { sizes, isWhole: endedBy === 'itself' }
}

/** Bytes that an ordinary process may still write to the file system of a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Bytes in words, of 10^9: `5 GB`, `0.05 GB`. */
export function inGigabytes(bytes: number): string {
  return `${Number((bytes / 1e9).toFixed(3))} GB`
}

/** A run that can be stopped, with a sentence for the person. */
export interface StoppableRun {
  stop(reason: 'disk_limit', sentence: string): void
}

export interface DiskWatch {
  /** Measures a run's workspace until the returned function is called. */
  watch(run: { readonly workspace: Workspace; readonly stop: StoppableRun }): () => void
}

export interface DiskWatchOptions {
  /** Workspaces are below it. */
  readonly root: string
  /** PATH. */
  readonly path: string
  readonly limits: Pick<DiskLimits, 'workspace' | 'leastFree'>
  readonly onFault: (fault: unknown) => void
  /** How often free space is looked at, in milliseconds; every second when not given. */
  readonly everyMs?: number
}

interface Watched {
  readonly folder: string
  readonly stop: StoppableRun
  /** Bytes at the first measurement, and at the last. */
  first: number | undefined
  last: number
}

/** Milliseconds between two measurements. On a busy machine a measurement takes long, and the disk must not be left unwatched for ten times as long. */
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
    // One at a time: what it frees may be enough for the others.
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
