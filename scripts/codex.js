/** Fetches the `codex` that tests use into `.cache/`, unless it is there, and prints its path. */
import { npmProgram, printed } from './npmProgram.js'

await printed(npmProgram({ name: 'codex', version: '0.169.0', from: '@openai/codex', file: '.bin/codex' }))
