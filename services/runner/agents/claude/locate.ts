/** Where the `claude` program is. */
import { createRequire } from 'node:module'
import { claudeConfiguration } from '#domain/agents/claude.ts'
import { locateProgram, thisMachine, type Located, type Machine, type WhereToLook } from '../locate.ts'

/** As configured, else on the path, else as installed with this program. The path is the file's own, without links. */
export function locateClaude(where: WhereToLook, machine: Machine = thisMachine()): Promise<Located> {
  const notInstalled = `The claude CLI is not installed. Run npm install, or set ${claudeConfiguration.variables.program} to its path.`
  return locateProgram(claudeConfiguration, where, installed(machine), notInstalled)
}

/** The platform package holds the program itself; it is there without any install script having run. */
function installed({ platform, arch, musl }: Machine): readonly string[] {
  const name = `@anthropic-ai/claude-code-${platform}-${arch}${musl ? '-musl' : ''}`
  try {
    return [createRequire(import.meta.url).resolve(`${name}/claude`)]
  } catch {
    return []
  }
}
