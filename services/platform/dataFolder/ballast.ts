/** Reserves disk space with a file that is deleted when the disk is full, so that deletions, sign-ins and a start can still be written. */
import { randomBytes } from 'node:crypto'
import { rmSync, statfsSync, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '#platform/childProcess.ts'
import type { Config } from '#platform/config/config.ts'
import type { Logger } from '#platform/log.ts'

export interface Ballast {
  /** Whether the disk is full. The remaining space, including the ballast, is then reserved for deletions and similar writes. */
  isFull(): boolean
  /** Throws when the disk is full. A check of `/readyz`. */
  ready(): Promise<void>
  /** Messages for the operator in `/readyz`. */
  details(): Readonly<Record<string, readonly string[]>>
  close(): Promise<void>
}

/** With fewer free bytes than this, the next write may fail. */
export const leastFreeBytes = 16 * 1024 ** 2

/** The type of a tmpfs, as statfs(2) names it. */
const tmpfsMagic = 0x01021994

/** The size of the ballast for a disk of this size, in bytes. */
export function ballastBytes(diskBytes: number): number {
  return Math.floor(Math.min(256 * 1024 ** 2, diskBytes / 50))
}

/** The state of a disk: its free space and the ballast, in bytes. */
export interface DiskState {
  readonly free: number
  readonly size: number
  readonly isThere: boolean
}

/** Whether less than `leastFreeBytes` is free in addition to the space for the ballast. Has no side effects. */
export function isUsedUp({ free, size, isThere }: DiskState): boolean {
  return free < leastFreeBytes + (isThere ? 0 : size)
}

/** Whether to delete or create the ballast. It is created only if twice its size and `leastFreeBytes` are free. Has no side effects. */
export function nextStep(state: DiskState): 'release' | 'make' | 'none' {
  if (state.isThere) return isUsedUp(state) ? 'release' : 'none'
  return state.size > 0 && state.free >= leastFreeBytes + 2 * state.size ? 'make' : 'none'
}

/** The size of the ballast in this folder, in bytes; 0 in a file system in memory, where it would take memory. */
function ballastBytesIn(folder: string): number {
  const { blocks, bsize, type } = statfsSync(folder)
  return type === tmpfsMagic ? 0 : ballastBytes(blocks * bsize)
}

function stateOf(folder: string, size: number): DiskState {
  const { bavail, bsize } = statfsSync(folder)
  const found = statSync(fileIn(folder), { throwIfNoEntry: false })
  return { free: bavail * bsize, size, isThere: found !== undefined }
}

/**
 * Called at a start before anything else is opened. Deletes an unfinished ballast, and the ballast if the disk is full. The folder may be missing.
 */
export function releaseIfFull(folder: string): void {
  rmSync(halfIn(folder), { force: true })
  if (
    statSync(folder, { throwIfNoEntry: false }) &&
    nextStep(stateOf(folder, ballastBytesIn(folder))) === 'release'
  )
    rmSync(fileIn(folder), { force: true })
}

const pollIntervalMs = 500
const retryIntervalMs = 60_000

/** For a process that keeps no ballast: one that stores nothing on a disk, or that runs no service. */
export const noBallast: Ballast = {
  isFull: () => false,
  ready: async () => undefined,
  details: () => ({}),
  close: async () => undefined,
}

/** Maintains the ballast in the data folder: deletes it when the disk is full, and creates it again when there is space. */
export function keepBallast(
  { dataDir: folder, path }: Pick<Config, 'dataDir' | 'path'>,
  logger: Pick<Logger, 'warn'>,
  sizeIn = ballastBytesIn,
): Ballast {
  const onFault = (fault: unknown) => logger.warn({ err: fault }, 'failed to keep room on the disk')
  let making: Promise<void> | undefined
  let notBefore = 0
  let lastFree = 0
  const currentState = () => stateOf(folder, sizeIn(folder))
  const isFull = () => isUsedUp(currentState())

  function look(): void {
    const state = currentState()
    const step = nextStep(state)
    const isFalling = state.free < lastFree
    lastFree = state.free
    // The ballast is not released while the free space is still falling, since whatever fills the disk would take this space as well.
    if (step === 'release' && !isFalling && making === undefined) rmSync(fileIn(folder), { force: true })
    if (step !== 'make' || performance.now() < notBefore) return
    notBefore = performance.now() + retryIntervalMs
    making ??= make(folder, state.size, path)
      .catch((fault: unknown) => {
        rmSync(halfIn(folder), { force: true })
        onFault(fault)
      })
      .finally(() => (making = undefined))
  }
  const timer = setInterval(() => {
    try {
      look()
    } catch (fault) {
      onFault(fault)
    }
  }, pollIntervalMs).unref()
  return {
    isFull,
    async ready() {
      if (isFull()) throw new Error('The disk is full.')
    },
    details: () =>
      isFull() ? { disk: [`The disk of ${folder} is full. Nothing new begins until there is room.`] } : {},
    async close() {
      clearInterval(timer)
      await making
    },
  }
}

/** Allocates the space on the disk: at once if the system supports that, otherwise by writing data that no file system can compress. */
async function make(folder: string, size: number, path: string): Promise<void> {
  const file = halfIn(folder)
  const handle = await open(file, 'w', 0o600)
  try {
    const { code } = await run('fallocate', ['-l', String(size), file], {
      env: { PATH: path },
      timeoutMs: 10_000,
      maxOutputBytes: 4_096,
    }).catch(() => ({ code: null }))
    const piece = randomBytes(1024 ** 2)
    if (code !== 0)
      for (let at = 0; at < size; at += piece.length)
        await handle.write(piece, 0, Math.min(piece.length, size - at), at)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(file, fileIn(folder))
}

const fileIn = (folder: string): string => join(folder, 'ballast')
const halfIn = (folder: string): string => `${fileIn(folder)}.half`
