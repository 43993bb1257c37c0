/** Where the `cursor-agent` program is. */
import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { cursorConfiguration } from '#domain/agents/cursor.ts'
import { configured, firstOf, onPath, type Located, type WhereToLook } from '../locate.ts'

/** As configured, else on the path, else where its installer puts it in the operator's home. */
export async function locateCursor(where: WhereToLook): Promise<Located> {
  const { program, variables } = cursorConfiguration
  const located =
    where.configured === undefined
      ? await firstOf([...onPath(program, where.path), ...inHome(program, where.home)], where)
      : await configured(where.configured, variables.program, where)
  if (!located)
    return {
      found: false,
      reason: `The cursor-agent CLI is not installed: get it with Cursor's own installer, or set ${variables.program} to the path of the program.`,
    }
  if (!located.found) return located
  // It is a script that starts files beside it, so the whole folder is shown; a program that stands alone is shown alone.
  const folder = dirname(located.path)
  return (await isThere(join(folder, 'index.js'))) ? { ...located, shown: folder } : located
}

function inHome(name: string, home: string | undefined): readonly string[] {
  return home === undefined || home === '' ? [] : [join(home, '.local/bin', name)]
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
