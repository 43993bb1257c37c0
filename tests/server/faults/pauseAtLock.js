/**
 * Loaded before the product (`node --import`): pauses it once after it has opened a lock file and before it locks it, until the file that
 * `PAUSE_AT_LOCK` names exists. `<PAUSE_AT_LOCK>.opened` shows that it is paused.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { patchSqlite } from './patchSqlite.js'

const go = process.env['PAUSE_AT_LOCK'] ?? ''

patchSqlite(
  (Driver) =>
    class extends Driver {
      /** @param {string} sql */
      exec(sql) {
        if (this.location()?.endsWith('-lock') && !existsSync(`${go}.opened`)) {
          writeFileSync(`${go}.opened`, '')
          const sleeping = new Int32Array(new SharedArrayBuffer(4))
          while (!existsSync(go)) Atomics.wait(sleeping, 0, 0, 10)
        }
        super.exec(sql)
      }
    },
)
