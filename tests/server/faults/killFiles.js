/**
 * Loaded before the product (`node --import`): counts its changes of the file system through promises, and ends the process by SIGKILL right after
 * the change with the number `KILL_FILES_AT`. Each change is a line in the file `KILL_FILES_LIST`.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'

const { KILL_FILES_AT: at = '0', KILL_FILES_LIST: list = '' } = process.env
let count = 0

/** @param {string} name @param {unknown} path */
function changed(name, path) {
  count += 1
  fs.appendFileSync(list, `${name} ${basename(String(path))}\n`)
  if (count !== Number(at)) return
  process.kill(process.pid, 'SIGKILL')
  // The process must do nothing after this.
  for (;;);
}

for (const name of /** @type {const} */ (['mkdir', 'copyFile', 'rename', 'rm', 'writeFile', 'chmod'])) {
  const call = fs.promises[name]
  Object.defineProperty(fs.promises, name, {
    /** @param {unknown[]} given */
    value: async (...given) => {
      const result = await Reflect.apply(call, fs.promises, given)
      changed(name, given[0])
      return result
    },
  })
}
syncBuiltinESMExports()
