/** Where the `claude` program is. */
import { createRequire } from 'node:module'
import { claudeConfiguration } from '#domain/agents/claude.ts'
import { locateProgram, type Located, type Machine, type WhereToLook } from '../locate.ts'

/** As configured, else on the path, else as installed with this program. The path is the file's own, without links. */
export function locateClaude(where: WhereToLook, machine: Machine = process): Promise<Located> {
  const notInstalled = `The claude CLI is not installed. Run npm install, or set ${claudeConfiguration.variables.program} to its path.`
  return locateProgram(claudeConfiguration, where, installed(machine), notInstalled)
}

/** The platform package holds the program itself, without any install script; where it is there for both C libraries, one of them starts. */
function installed({ platform, arch }: Machine): readonly string[] {
  const { resolve } = createRequire(import.meta.url)
  return ['', '-musl'].flatMap((library) => {
    try {
      return [resolve(`@anthropic-ai/claude-code-${platform}-${arch}${library}/claude`)]
    } catch {
      return []
    }
  })
}
