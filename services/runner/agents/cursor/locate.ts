/** Where the `cursor-agent` program is. */
import { dirname, join } from 'node:path'
import { cursorConfiguration } from '#domain/agents/cursor.ts'
import { locateProgram, withParts, type Located, type WhereToLook } from '../locate.ts'

/** As configured, else on the path, else where its installer puts it in the operator's home. It is a script that starts files beside it. */
export async function locateCursor(where: WhereToLook): Promise<Located> {
  const { program, variables } = cursorConfiguration
  const inHome = where.home ? [join(where.home, '.local/bin', program)] : []
  const notInstalled = `The cursor-agent CLI is not installed: get it with Cursor's own installer, or set ${variables.program} to the path of the program.`
  const located = await locateProgram(cursorConfiguration, where, inHome, notInstalled)
  return located.found ? withParts(located, dirname(located.path), 'index.js') : located
}
