/** Finds a program of this machine, as a shell would. */
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The path of a program; `undefined` when none of the folders of `path` has it. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const dir of path.split(delimiter).filter((entry) => entry.startsWith('/'))) {
    const file = join(dir, name)
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return file
  }
  return undefined
}
