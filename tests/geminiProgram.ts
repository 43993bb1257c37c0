/** The real `gemini` for tests: as GEMINI_BIN names it, or of one exact version, which scripts/gemini.js fetches. */
import { acpAgents } from '../services/runner/agents/acp/acpAgents.ts'
import type { Located } from '../services/runner/agents/locate.ts'
import { programOfScript } from './programScript.ts'

const patienceMs = 300_000

/** Its place, or why it is not there. With REQUIRE_GEMINI=1 in the environment, its absence is a failure. */
export async function geminiProgram(): Promise<Located> {
  const { GEMINI_BIN: named, PATH: path = '', REQUIRE_GEMINI: required } = process.env
  try {
    return await acpAgents.gemini.locate({
      configured: named ?? (await programOfScript('gemini.js', patienceMs)),
      path,
    })
  } catch (fault) {
    if (required === '1') throw fault
    return { found: false, reason: fault instanceof Error ? fault.message : String(fault) }
  }
}
