/**
 * The SQLite driver that counts the writes to any file, and ends the process by SIGKILL just before or just after the n-th write. The file that
 * `KILL_ORDER` names contains the order, `<name> <n> before|after`: a new text restarts the count, and without the file nothing is counted. The order
 * is removed by the process that it ends; `<KILL_ORDER>.told` then says at which write.
 */
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'

const file = process.env['KILL_ORDER'] ?? ''
/** @type {{ text: string, at: number, moment: string, count: number } | undefined} */
let order

/** The current order with its count; `undefined` without one. */
function current() {
  try {
    const text = readFileSync(file, 'utf8')
    if (order?.text === text) return order
    const [, at = '0', moment = ''] = text.split(' ')
    order = { text, at: Number(at), moment, count: 0 }
  } catch {
    order = undefined
  }
  return order
}

/**
 * The order belongs to the process that removes its file first, so an order that is withdrawn at this moment is not carried out.
 * @param {string} what
 */
function kill(what) {
  writeFileSync(`${file}.told`, what)
  try {
    unlinkSync(file)
  } catch {
    return
  }
  process.kill(process.pid, 'SIGKILL')
  // The process must do nothing after this.
  for (;;);
}

/**
 * Makes one write, unless this is where the process ends.
 * @template T
 * @param {string} what
 * @param {() => T} write
 * @returns {T}
 */
function counted(what, write) {
  const now = current()
  if (!now) return write()
  now.count += 1
  const isHere = now.count === now.at
  if (isHere && now.moment === 'before') kill(`before ${what}`)
  const result = write()
  if (isHere) kill(`after ${what}`)
  return result
}

/** @typedef {import('@photostructure/sqlite').DatabaseSync} DatabaseSync */

/** @param {new (...given: any[]) => DatabaseSync} Driver */
export const killing = (Driver) =>
  class extends Driver {
    /** @param {Parameters<DatabaseSync['prepare']>} asked */
    prepare(...asked) {
      const statement = super.prepare(...asked)
      const [sql] = asked
      const isCommit = /^\s*COMMIT\b/i.test(sql)
      if (!isCommit && !/^\s*(INSERT|UPDATE|DELETE)\b/i.test(sql)) return statement
      const what = `${basename(this.location() ?? '')}: ${sql.trim().replaceAll(/\s+/g, ' ').slice(0, 60)}`
      for (const name of /** @type {const} */ (['run', 'get', 'all'])) {
        const call = statement[name]
        Object.defineProperty(statement, name, {
          /** @param {unknown[]} values */
          value: (...values) => {
            const write = () => Reflect.apply(call, statement, values)
            // Within a transaction nothing is on the disk yet, so its COMMIT counts as the write.
            return isCommit || !this.isTransaction ? counted(what, write) : write()
          },
        })
      }
      return statement
    }
  }
