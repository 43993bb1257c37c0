/** The variable PATH of a project: folders below the workspace and the home that are searched for programs before those of the sandbox. */

/** The start of an entry, by the folder that it stands for. */
const starts = {
  tree: ['./', '$PWD/'],
  home: ['~/', '$HOME/'],
} as const

export interface SearchedFolder {
  readonly below: keyof typeof starts
  /** The path below that folder. */
  readonly path: string
}

/** The folders that a value of PATH names, in their order; or the first entry that names no folder below the workspace or the home. */
export function searchedFolders(
  value: string,
): { readonly folders: readonly SearchedFolder[] } | { readonly wrong: string } {
  const folders: SearchedFolder[] = []
  for (const entry of value.split(':')) {
    const folder = searchedFolder(entry)
    if (!folder) return { wrong: entry }
    folders.push(folder)
  }
  return { folders }
}

function searchedFolder(entry: string): SearchedFolder | undefined {
  for (const below of ['tree', 'home'] as const)
    for (const start of starts[below])
      if (entry.startsWith(start)) {
        const path = entry.slice(start.length)
        return path.split('/').includes('..') ? undefined : { below, path }
      }
  return undefined
}
