/** The real `opencode` for tests: as OPENCODE_BIN names it, or of one exact version, which scripts/opencode.js fetches. */
import { acpAgents } from '../services/runner/agents/acp/acpAgents.ts'
import type { Located } from '../services/runner/agents/locate.ts'
import { programOfScript } from './programScript.ts'

const patienceMs = 300_000

/** The path of the program, or why there is none. With REQUIRE_OPENCODE=1 in the environment, its absence is a failure. */
export async function opencodeProgram(): Promise<Located> {
  const { OPENCODE_BIN: named, PATH: path = '', REQUIRE_OPENCODE: required } = process.env
  try {
    return await acpAgents.opencode.locate({
      configured: named ?? (await programOfScript('opencode.js', patienceMs)),
      path,
    })
  } catch (fault) {
    if (required === '1') throw fault
    return { found: false, reason: fault instanceof Error ? fault.message : String(fault) }
  }
}
