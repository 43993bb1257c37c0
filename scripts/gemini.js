/** Downloads the `gemini` that tests use to `.cache/`, unless it is there already, and prints its path. */
import { npmProgram, printed } from './npmProgram.js'

const from = '@google/gemini-cli'
await printed(npmProgram({ name: 'gemini', version: '0.61.0', from, file: `${from}/bundle/gemini.js` }))
