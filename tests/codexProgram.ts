/** The real `codex` for tests: the program that CODEX_BIN names, or an exact version, which scripts/codex.js fetches. */
import { locateCodex } from '../services/runner/agents/codex/codex.ts'
import type { Located } from '../services/runner/agents/locate.ts'
import { programOfScript } from './programScript.ts'

const patienceMs = 300_000

/** Where the program is, or why it is missing. With REQUIRE_CODEX=1 in the environment, a missing program is a failure. */
export async function codexProgram(): Promise<Located> {
  const { CODEX_BIN: named, PATH: path = '', REQUIRE_CODEX: required } = process.env
  try {
    return await locateCodex({ configured: named ?? (await programOfScript('codex.js', patienceMs)), path })
  } catch (fault) {
    if (required === '1') throw fault
    return { found: false, reason: fault instanceof Error ? fault.message : String(fault) }
  }
}
