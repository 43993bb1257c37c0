/** The variable PATH of a project: folders in the workspace or the home that are searched for programs before the sandbox's own folders. */

/** The ways to begin an entry of PATH: `tree` for the workspace, `home` for the home. */
const starts = {
  tree: ['./', '$PWD/'],
  home: ['~/', '$HOME/'],
} as const

export interface SearchedFolder {
  readonly below: keyof typeof starts
  /** The path in the workspace or the home. */
  readonly path: string
}

/** The folders in a value of PATH, in order; or as `wrong` the first entry that is not a folder in the workspace or the home. */
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
