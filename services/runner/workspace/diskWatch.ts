/** Watches the disk space of workspaces while runs continue. */
import { statfsSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { DiskLimits } from '#platform/config/config.ts'
import type { Paused } from '../sandbox/pausableSandboxes.ts'
import { floorsOf, isFalling, isOutOfHand, isOver, mayBeOver, whoGrewMost } from './diskDecision.ts'
import { openFolderSizes, sizesOf } from './folderSizes.ts'
import { taskFolder } from './workspace.ts'

/**
 * The bytes that an ordinary process may still write to the file system of a folder. A disk can also be filled with empty files. So if the inodes
 * will run out earlier, their free share counts. Takes microseconds, and waits for no other work.
 */
export function freeBytes(folder: string): number {
  const { bavail, blocks, bsize, files, ffree } = statfsSync(folder)
  return bsize * (files > 0 ? Math.min(bavail, (ffree / files) * blocks) : bavail)
}

/** Bytes in words, with gigabytes of 10^9 bytes: `5 GB`, `0.05 GB`. */
export function inGigabytes(bytes: number): string {
  return `${Number((bytes / 1e9).toFixed(3))} GB`
}

/** A run that can be stopped. The sentence tells the person why. */
export interface StoppableRun {
  stop(reason: 'disk_limit', sentence: string): void
}

export interface DiskWatch {
  /** A sentence that says that too little space is free for a run to begin; `undefined` when it can begin. */
  refusal(): string | undefined
  /** Measures a run's disk space until the returned function is called, and once more then. */
  watch(run: { readonly taskId: string; readonly stop: StoppableRun }): () => void
  /** Resolves when all ended runs were counted. Never rejects. */
  counted(): Promise<void>
  close(): void
}

export interface DiskWatchOptions {
  /** The folder that contains all workspaces. */
  readonly root: string
  /** The `PATH` of the programs that measure folders. */
  readonly path: string
  readonly limits: Pick<DiskLimits, 'workspace' | 'leastFree'>
  /** Pauses a task's processes while it is decided which run is ended. */
  readonly pause: (taskId: string) => Promise<Paused>
  readonly onCounted: (taskId: string, bytes: number) => void
  readonly onFault: (fault: unknown) => void
}

interface Watched {
  readonly taskId: string
  readonly folder: string
  readonly stop: StoppableRun
  /** The bytes at the first measurement. */
  first: number | undefined
  /** The bytes at the last measurement. */
  last: number | undefined
}

const pollIntervalMs = 100
/** Free space is extrapolated for this many polls. */
const pollsAhead = 4
/** The longest time for which runs are paused while their files are counted. */
const longestPauseMs = 3_000
/** The longest time to wait for the end of a run that was stopped. */
const endTimeoutMs = 10_000

/**
 * The least and the most milliseconds between two measurements. On a busy machine, a measurement takes long. Without the upper limit, the next
 * measurement would begin only after ten times as long.
 */
const betweenMs = { least: 2_000, most: 15_000 }
const shareOfTime = 10

/** How long after a measurement the next one is due. Measuring should take a tenth of the time, within limits. All in milliseconds. */
export function untilNext(tookMs: number): number {
  return Math.min(betweenMs.most, Math.max(betweenMs.least, tookMs * shareOfTime))
}

export function openDiskWatch(options: DiskWatchOptions): DiskWatch {
  const { root, path, limits, onCounted, onFault } = options
  const floors = floorsOf(limits.leastFree)
  const folderSizes = openFolderSizes(root, path)
  const watched = new Set<Watched>()
  const ending = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  let measuring: Promise<void> | undefined
  let deciding: Promise<void> | undefined
  let dueAt = 0
  let freeAtMeasure = Infinity
  let decidedFrom = 0
  let lastFree = 0
  /**
   * The highest number of bytes that were free since this watch last decided whether to end a run, or since the start. `undefined` once at least
   * `floors.stop` bytes are free.
   */
  let settled: number | undefined = freeBytes(root)

  async function measure(): Promise<void> {
    const begun = performance.now()
    // Replaced at the end, unless this measurement fails.
    dueAt = begun + betweenMs.least
    freeAtMeasure = freeBytes(root)
    for (const run of watched) {
      const size = await folderSizes.sizeOf(run.folder)
      if (!watched.has(run)) continue
      if (size === 'unknown') {
        run.stop.stop('disk_limit', 'Stopped: it created more files than could be counted in a minute.')
        continue
      }
      run.first ??= size
      run.last = size
      onCounted(run.taskId, size)
      if (isOver(size, run.first, limits.workspace)) run.stop.stop('disk_limit', tooMuch(limits.workspace))
    }
    dueAt = performance.now() + untilNext(performance.now() - begun)
  }

  function look(): void {
    const free = freeBytes(root)
    if (deciding && isOutOfHand(free, floors, decidedFrom))
      for (const { stop } of watched) stop.stop('disk_limit', noRunGoesOn)
    settled = settled === undefined || free >= floors.stop ? undefined : Math.max(settled, free)
    // Extrapolates the speed at which free space falls, because a fast writer must be paused before free space reaches the floor.
    const fallen = Math.max(0, lastFree - free)
    if (!deciding && isFalling(free - pollsAhead * fallen, floors, settled)) {
      decidedFrom = free
      deciding = endWhoGrewMost(options, watched)
        .catch(onFault)
        .finally(() => {
          settled = freeBytes(root)
          deciding = undefined
        })
    }
    lastFree = free
    const sizes = [...watched].map(({ last }) => last)
    if (performance.now() >= dueAt || mayBeOver(freeAtMeasure - free, sizes, limits.workspace))
      measuring ??= measure()
        .catch(onFault)
        .finally(() => (measuring = undefined))
  }

  return {
    refusal: () => (freeBytes(root) < floors.begin ? nothingBegins : undefined),
    watch({ taskId, stop }) {
      const folder = taskFolder(root, taskId)
      const run: Watched = { taskId, folder, stop, first: undefined, last: undefined }
      watched.add(run)
      dueAt = 0
      timer ??= setInterval(guarded(look, onFault), pollIntervalMs).unref()
      return () => {
        watched.delete(run)
        if (watched.size === 0) {
          clearInterval(timer)
          timer = undefined
        }
        const counting = folderSizes
          .sizeOf(folder)
          // A workspace with too many files to count counts as using its limit.
          .then((size) => onCounted(taskId, size === 'unknown' ? limits.workspace : size))
          .catch(onFault)
          .finally(() => ending.delete(counting))
        ending.add(counting)
      }
    },
    counted: async () => void (await Promise.all(ending)),
    close: folderSizes.close,
  }
}

/** Wraps `call` so that a fault is passed to `onFault` instead of being thrown. */
function guarded(call: () => void, onFault: (fault: unknown) => void): () => void {
  return () => {
    try {
      call()
    } catch (fault) {
      onFault(fault)
    }
  }
}

/**
 * Pauses all runs, ends the run that grew most since it was last counted, if there is one and space is still short, and lets the others continue.
 * Resolves when that run has ended, or after `endTimeoutMs`.
 */
async function endWhoGrewMost(
  { root, path, limits, pause, onFault }: DiskWatchOptions,
  watched: ReadonlySet<Watched>,
): Promise<void> {
  const runs = [...watched]
  const paused = await Promise.all(runs.map(({ taskId }) => pause(taskId)))
  let ended: Watched | undefined
  try {
    const folders = runs.map(({ folder }) => folder)
    const { dev } = statSync(root)
    const [sizes, deleted] = await Promise.all([
      sizesOf(folders, path, longestPauseMs),
      Promise.all(paused.map((one) => one.deletedBytes(dev))),
    ])
    const floors = floorsOf(limits.leastFree)
    // If enough space has become free after all runs were paused, all of them continue.
    if (freeBytes(root) >= floors.stop) return
    const grown = runs.map(({ folder, last }, index) => {
      const size = sizes.get(folder)
      return { before: last, now: size === undefined ? undefined : size + (deleted[index] ?? 0) }
    })
    ended = runs[whoGrewMost(grown, floors) ?? -1]
    ended?.stop.stop('disk_limit', diskFull)
  } catch (fault) {
    onFault(fault)
  } finally {
    for (const one of paused) one.resume()
  }
  if (ended) await hasEnded(ended, watched)
}

async function hasEnded(run: Watched, watched: ReadonlySet<Watched>): Promise<void> {
  for (let waitedMs = 0; watched.has(run) && waitedMs < endTimeoutMs; waitedMs += pollIntervalMs)
    await delay(pollIntervalMs)
}

const tooMuch = (limit: number): string =>
  `Stopped: its files take up more than ${inGigabytes(limit)} of disk space. Remove large files, or ask the operator to raise WORKSPACE_GB.`
const diskFull =
  "Stopped: this run filled the server's disk. Its files are kept. Delete this task, or ask the operator to free up space."
const noRunGoesOn =
  "Stopped: the server's disk is full. The files of this run are kept. Ask the operator to free up space, then try again."
const nothingBegins =
  "The server's disk is nearly full. Delete tasks you no longer need, or ask the operator to free up space, then try again."
