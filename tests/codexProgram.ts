/** The real `codex` for tests: as CODEX_BIN names it, on the path, or of this exact version, fetched once into `.cache/`. */
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { locateCodex } from '../services/runner/agents/codex/locate.ts'
import type { Located } from '../services/runner/agents/locate.ts'

const version = '0.169.0'
const cache = fileURLToPath(new URL('../.cache/codex', import.meta.url))
const script = join(cache, 'node_modules/.bin/codex')
const patienceMs = 240_000

/** Its place, or why it is not there. With REQUIRE_CODEX=1 in the environment, its absence is a failure. */
export async function codexProgram(): Promise<Located> {
  const { CODEX_BIN: configured, PATH: path = '' } = process.env
  if (configured !== undefined) return locateCodex({ configured, path })
  const cached = await locateCodex({ configured: script, path })
  if (cached.found && cached.version === version) return cached
  try {
    await mkdir(cache, { recursive: true })
    const options = ['--prefix', cache, '--save-exact', '--no-audit', '--no-fund', '--ignore-scripts']
    await promisify(execFile)('npm', ['install', ...options, `@openai/codex@${version}`], {
      timeout: patienceMs,
    })
    return await locateCodex({ configured: script, path })
  } catch (fault) {
    if (process.env['REQUIRE_CODEX'] === '1') throw fault
    return { found: false, reason: `codex ${version} cannot be fetched here.` }
  }
}
