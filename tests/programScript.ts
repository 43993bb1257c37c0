/** Runs a script of `scripts/` that fetches or builds a program for tests, once, into `.cache/`. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'

/** The path of the program. Throws with the script's reason when the program cannot be fetched or built. */
export async function programOfScript(
  name: 'codex.js' | 'ferretdb.js' | 'opencode.js' | 'gemini.js',
  timeoutMs: number,
): Promise<string> {
  const script = join(import.meta.dirname, '../scripts', name)
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: timeoutMs })
    return stdout.trim()
  } catch (fault) {
    throw new Error(ScriptFault.safeParse(fault).data?.stderr ?? String(fault), { cause: fault })
  }
}

const ScriptFault = z.object({ stderr: z.string().trim().min(1) })
