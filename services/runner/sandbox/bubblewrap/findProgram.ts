/** Finds a program of this machine, as a shell would. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The path of a program; `undefined` when none of the folders of `path` has it. */
export function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((entry) => entry.startsWith('/'))
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}
