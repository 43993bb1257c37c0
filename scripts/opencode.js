/** Fetches the `opencode` that tests use into `.cache/`, unless it is there, and prints its path. */
import { npmProgram, printed } from './npmProgram.js'

const from = `opencode-${process.platform}-${process.arch}`
await printed(npmProgram({ name: 'opencode', version: '1.18.33', from, file: `${from}/bin/opencode` }))
