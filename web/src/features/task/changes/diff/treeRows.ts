/** The changed files as rows of a tree: collapsible folders and their files. Pure. */
import { splitName, type DiffFile } from './readDiffs.ts'

export type TreeRow =
  | { readonly kind: 'folder'; readonly folder: string; readonly folded: boolean; readonly files: number }
  | { readonly kind: 'file'; readonly file: DiffFile }

/** Keeps the order of the files, which is by folder; while a filter is active, no folder is collapsed. */
export function treeRows(
  files: readonly DiffFile[],
  wanted: string,
  folded: ReadonlySet<string>,
): readonly TreeRow[] {
  const sought = wanted.trim().toLowerCase()
  const folders = new Map<string, DiffFile[]>()
  for (const file of files) {
    if (!file.name.toLowerCase().includes(sought)) continue
    const { folder } = splitName(file.name)
    const inside = folders.get(folder)
    if (inside === undefined) folders.set(folder, [file])
    else inside.push(file)
  }
  return [...folders].flatMap(([folder, inside]): readonly TreeRow[] => {
    const isFolded = sought === '' && folded.has(folder)
    const rows = inside.map((file): TreeRow => ({ kind: 'file', file }))
    // If no file is in a folder, there is no folder row.
    if (folder === '' && folders.size === 1) return rows
    return [{ kind: 'folder', folder, folded: isFolded, files: inside.length }, ...(isFolded ? [] : rows)]
  })
}
