/** Fetches the `gemini` that tests use into `.cache/`, where it is not there yet, and prints where it is. */
import { npmProgram, printed } from './npmProgram.js'

const from = '@google/gemini-cli'
await printed(npmProgram({ name: 'gemini', version: '0.61.0', from, file: `${from}/bundle/gemini.js` }))
