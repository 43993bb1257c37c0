/** Where the `codex` program is. */
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { codexConfiguration } from '#domain/agents/codex.ts'
import { locateProgram, withParts, type Located, type Machine, type WhereToLook } from '../locate.ts'

/** As configured, else on the path, else as installed with this program; always the program itself, not the script that starts it. */
export async function locateCodex(where: WhereToLook, machine: Machine = process): Promise<Located> {
  const notInstalled = `The codex CLI is not installed. Run npm install --global @openai/codex, or set ${codexConfiguration.variables.program} to its path.`
  const beside = installed(machine, import.meta.url)
  const located = await locateProgram(codexConfiguration, where, beside, notInstalled)
  if (!located.found) return located
  const [native = located.path] =
    basename(located.path) === 'codex.js' ? installed(machine, located.path) : []
  const found = { ...located, path: native, shown: native }
  return withParts(found, dirname(dirname(native)), 'codex-resources')
}

const triples: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}

/** The package of the platform, which is found from `by`, holds the program and its parts. */
function installed({ platform, arch }: Machine, by: string): readonly string[] {
  const name = `${platform}-${arch}`
  try {
    const manifest = createRequire(by).resolve(`@openai/codex-${name}/package.json`)
    return [join(dirname(manifest), 'vendor', triples[name] ?? name, 'bin/codex')]
  } catch {
    return []
  }
}
