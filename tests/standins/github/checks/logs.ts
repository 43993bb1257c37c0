/** Logs of jobs: files outside of the state, available for a minute at an address that nobody can guess. */
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Clock } from '#platform/ports/clock.ts'

export interface Logs {
  write(runId: number, text: string): Promise<void>
  has(runId: number): Promise<boolean>
  /** Creates a key with which the log can be read for a minute. */
  lend(runId: number): string
  /** The log for a key; `undefined` when the key is unknown or has expired. */
  read(key: string): Promise<Readable | undefined>
  /** Removes the log, as GitHub does after its retention time. */
  remove(runId: number): Promise<void>
}

const lentForMs = 60_000
const mostLent = 1_000

/** Stores logs in the folder `logs` of `dataDir`. */
export function openLogs(dataDir: string, clock: Clock): Logs {
  const dir = join(dataDir, 'logs')
  const pathOf = (runId: number) => join(dir, `${runId}.log`)
  const lent = new Map<string, { readonly runId: number; readonly until: number }>()
  const has = (runId: number) =>
    stat(pathOf(runId)).then(
      () => true,
      () => false,
    )
  return {
    write: async (runId, text) => {
      await mkdir(dir, { recursive: true, mode: 0o700 })
      const beside = `${pathOf(runId)}.tmp`
      await writeFile(beside, text, { mode: 0o600 })
      await rename(beside, pathOf(runId))
    },
    has,
    lend: (runId) => {
      const [oldest] = lent.keys()
      if (lent.size >= mostLent && oldest !== undefined) lent.delete(oldest)
      const key = randomBytes(24).toString('base64url')
      lent.set(key, { runId, until: clock.now().getTime() + lentForMs })
      return key
    },
    read: async (key) => {
      const found = lent.get(key)
      if (!found || found.until < clock.now().getTime() || !(await has(found.runId))) return undefined
      return createReadStream(pathOf(found.runId))
    },
    remove: (runId) => rm(pathOf(runId), { force: true }),
  }
}
