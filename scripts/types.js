/** `npm run types`: checks the types of every part, two parts at a time. TypeScript's messages are shown; the exit code is 1 when a part fails. */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './run.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const compiler = join(root, 'node_modules/typescript-native/bin/tsc')
const limit = 600_000

/** The folders that have a tsconfig.json, with those that take longest first, so that none runs alone at the end. */
const parts = ['tests', 'web', 'services', 'domain', 'scripts']

const left = [...parts]
/** Checks parts until none is left. */
async function checkParts() {
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    // Its threads repeat each other's work, and take twice the processor time of one.
    const args = [compiler, '-p', part, '--singleThreaded']
    const { ok, why, output } = await run(process.execPath, args, {
      cwd: root,
      env: process.env,
      limit,
      output: 'keep',
    })
    if (ok) continue
    console.error(`${output.trimEnd()}\nThe types of ${part}: tsc ${why}.`)
    process.exitCode = 1
  }
}
await Promise.all([checkParts(), checkParts()])
