/** A task's files as a person browses them: read from a workspace, or from a commit when there is none. */
import type { FileEntry } from '#domain/api/taskFiles.schema.ts'
import { taskFileLimits } from '#domain/api/taskFiles.ts'

export type AtPath =
  | { readonly kind: 'folder'; readonly entries: readonly FileEntry[]; readonly leftOut: number }
  /** `start` has the first bytes, at most as many as were asked for. */
  | { readonly kind: 'file'; readonly size: number; readonly start: Buffer }
  | { readonly kind: 'link'; readonly target: string }
  /**
   * `repository`: a folder with a repository of its own. `other`: something that is no plain file, folder or link. `missing`: nothing is at the path,
   * or git neither tracks it nor would add it.
   */
  | { readonly kind: 'repository' | 'other' | 'missing' }

export interface FileSource {
  /** Reads the file, folder or link at a path that passed `isRepositoryPath`; '' is the top folder. Throws `GitFault`. */
  at(path: string, mostBytes: number): Promise<AtPath>
  /** All files, for a search. If there are more than about `mostPaths`, the list lacks the last ones. Throws `GitFault`. */
  paths(): Promise<readonly string[]>
  /** Whether a file that git listed still exists. */
  has(path: string): Promise<boolean>
}

/** An entry of a folder: only its name and kind are known yet. */
export interface ListedEntry {
  /** The bytes of the name; git does not say how they are encoded. */
  readonly name: Buffer
  readonly isFolder: boolean
}

export type Described = Pick<FileEntry, 'kind' | 'size' | 'target'>

/** About how many paths of a commit, or tracked paths of a workspace, are listed at most; new paths of a workspace are as many more. */
export const mostPaths = 200_000

const describedAtOnce = 100
/** About how many bytes the returned entries may have as JSON: they must fit into one message between processes. */
const longestList = 400_000
/** How many bytes of a link's target are read from a commit: no file system allows longer targets. */
export const longestTarget = 4_096

/** The first entries of a folder. Only the returned entries are described; `describe` returns `undefined` for an entry that no longer exists. */
export async function folderOf<C extends ListedEntry>(
  children: readonly C[],
  describe: (child: C) => Promise<Described | undefined> | Described | undefined,
): Promise<Extract<AtPath, { kind: 'folder' }>> {
  const sorted = children.toSorted(
    (a, b) => Number(b.isFolder) - Number(a.isFolder) || Buffer.compare(a.name, b.name),
  )
  const entries: FileEntry[] = []
  let room = longestList
  let seen = 0
  while (seen < sorted.length && entries.length < taskFileLimits.entries && room > 0) {
    const some = sorted.slice(seen, seen + Math.min(describedAtOnce, taskFileLimits.entries - entries.length))
    seen += some.length
    const described = await Promise.all(some.map(describe))
    for (const [index, { name }] of some.entries()) {
      const found = described[index]
      if (!found) continue
      const text = name.toString('utf8')
      const entry = { name: text, ...found, opens: Buffer.from(text).equals(name) }
      room -= Buffer.byteLength(JSON.stringify(entry))
      entries.push(entry)
    }
  }
  return { kind: 'folder', entries, leftOut: sorted.length - seen }
}
