/**
 * Counts the steps of a rebuild over all threads of the process, and ends the process by SIGKILL right after the n-th. The file that `KILL_REBUILD`
 * names contains the order, as JSON: `at` is n, `kind` is a kind of step that ends the process as well, and `live` is the number of the live
 * generation. Without the file nothing is counted. Each step is a line in `<KILL_REBUILD>.steps`. The order is removed before the process ends.
 */
import { appendFileSync, existsSync, readFileSync, unlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const file = process.env['KILL_REBUILD'] ?? ''

/** The current order; `undefined` without one. */
export function order() {
  try {
    /** @type {{ at: number, kind: string | null, live: number }} */
    const read = JSON.parse(readFileSync(file, 'utf8'))
    return read
  } catch {
    return undefined
  }
}

/**
 * The role of the file among the read models; `undefined` for other files.
 * @param {string} path
 */
export function fileOf(path) {
  const name = basename(path)
  if (!name.startsWith('views.sqlite')) return undefined
  return name.includes('.part') ? 'aside' : 'views'
}

/** @param {string} kind what was done */
export function step(kind) {
  const now = order()
  if (!now) return
  const list = `${file}.steps`
  const line = `${isMainThread ? 'main' : 'thread'}, ${kind}`
  // Progress is written once a second, so repeated lines are left out.
  if (kind.endsWith('progress') && existsSync(list) && readFileSync(list, 'utf8').endsWith(`${line}\n`))
    return
  appendFileSync(list, `${line}\n`)
  // Two threads may count at once; in that case the second one kills.
  if (line !== now.kind && readFileSync(list, 'utf8').split('\n').length - 1 < now.at) return
  try {
    unlinkSync(file)
  } catch {
    return
  }
  process.kill(process.pid, 'SIGKILL')
  // The process must do nothing after this.
  for (;;);
}
