/** The real `codex` for tests: as CODEX_BIN names it, on the path, or of this exact version, fetched once into `.cache/`. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { locateCodex } from '../services/runner/agents/codex/locate.ts'
import type { Located } from '../services/runner/agents/locate.ts'

const version = '0.169.0'
const caches = fileURLToPath(new URL('../.cache', import.meta.url))
const cache = join(caches, `codex-${version}`)
const script = join(cache, 'node_modules/.bin/codex')
const patienceMs = 240_000

/** Its place, or why it is not there. With REQUIRE_CODEX=1 in the environment, its absence is a failure. */
export async function codexProgram(): Promise<Located> {
  const { CODEX_BIN: configured, PATH: path = '' } = process.env
  if (configured !== undefined) return locateCodex({ configured, path })
  const cached = await locateCodex({ configured: script, path })
  if (cached.found && cached.version === version) return cached
  try {
    await mkdir(caches, { recursive: true })
    // Other files may fetch it at the same time: it is put in its place when it is whole, and the first one stays.
    const own = await mkdtemp(`${cache}-`)
    const options = ['--prefix', own, '--save-exact', '--no-audit', '--no-fund', '--ignore-scripts']
    await promisify(execFile)('npm', ['install', ...options, `@openai/codex@${version}`], {
      timeout: patienceMs,
    })
    await rename(own, cache).catch(() => rm(own, { recursive: true }))
    return await locateCodex({ configured: script, path })
  } catch (fault) {
    if (process.env['REQUIRE_CODEX'] === '1') throw fault
    return { found: false, reason: `codex ${version} cannot be fetched here.` }
  }
}
