/** Where the `codex` program is. */
import { access } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { codexConfiguration } from '#domain/agents/codex.ts'
import {
  configured,
  firstOf,
  onPath,
  thisMachine,
  type Located,
  type Machine,
  type WhereToLook,
} from '../locate.ts'

/** As configured, else on the path, else as installed with this program; always the program itself, not the script that starts it. */
export async function locateCodex(where: WhereToLook, machine: Machine = thisMachine()): Promise<Located> {
  const { program, variables } = codexConfiguration
  const located =
    where.configured === undefined
      ? await firstOf([...onPath(program, where.path), ...installed(machine, import.meta.url)], where)
      : await configured(where.configured, variables.program, where)
  if (!located)
    return {
      found: false,
      reason: `The codex CLI is not installed. Run npm install --global @openai/codex, or set ${variables.program} to its path.`,
    }
  if (!located.found) return located
  const [native = located.path] =
    basename(located.path) === 'codex.js' ? installed(machine, located.path) : []
  const folder = dirname(dirname(native))
  const hasParts = await access(join(folder, 'codex-resources')).then(
    () => true,
    () => false,
  )
  return { ...located, path: native, shown: hasParts ? folder : native }
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
