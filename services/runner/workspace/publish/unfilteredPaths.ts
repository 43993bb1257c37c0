/**
 * Finds content that would be published unfiltered: on paths to which the repository's attributes apply a clean filter, such as git-crypt or Git LFS.
 */
import { splitNul, withScratchIndex, type TreePath } from '../changes/indexDifferences.ts'
import { gitOrThrow, gitText } from '../git/git.ts'
import { namedOf } from '../names.ts'
import type { WorkspaceGit } from '../workspace.ts'

/** A path with content that was not filtered. */
export interface UnfilteredPath {
  readonly path: string
  /** The value of `filter=` in the attributes. */
  readonly filter: string
  /**
   * Set if a pointer of Git LFS can replace the content: the tree's own attributes apply `lfs` to the path, and none of `published` applies another
   * filter that is not allowed.
   */
  readonly forLfs: ChangedContent | null
}

export interface FilterQuestion extends WorkspaceGit {
  /** The tree that is to be published. */
  readonly tree: string
  /**
   * Trees or commits that the host has. A file that one of them has with the same content at the same path counts as published. The `.gitattributes`
   * of each of them apply.
   */
  readonly published: readonly string[]
  /** Filters that the project's owner allows to be skipped. */
  readonly allowed: readonly string[]
}

/**
 * The changed files to which an attribute applies a filter: an attribute in the tree, or in a commit of `published`, so that a change of
 * `.gitattributes` exempts no path. A pointer of Git LFS counts as filtered. Throws `GitFault`.
 */
export async function unfilteredPaths(question: FilterQuestion): Promise<readonly UnfilteredPath[]> {
  const { git, workspace, tree, published, allowed } = question
  const gitDir = workspace.privateGitDir
  const treeOf = (of: string) => gitText(git, { gitDir, args: ['rev-parse', '--verify', `${of}^{tree}`] })
  const bases = [...new Set(await Promise.all(published.map(treeOf)))]
  const differences = await Promise.all(bases.map((base) => differencesFrom(question, base)))
  const [first, ...others] = differences.map(({ changed }) => changed)
  const changed = new Map([...(first ?? [])].filter(([key]) => others.every((other) => other.has(key))))
  if (changed.size === 0) return []
  const paths = [...changed.values()].map(({ path }) => path)
  const withOwnAttributes = bases.filter((_, index) => differences[index]?.changesAttributes)
  const found = new Map<string, UnfilteredPath>()
  for (const one of [tree, ...withOwnAttributes])
    for (const { path, filter } of await filtersOf(question, one, paths)) {
      if (allowed.includes(filter)) continue
      const key = path.toString('latin1')
      const content = changed.get(key)
      if (
        filter === lfs &&
        (found.get(key)?.forLfs || (content && (await isPointer(question, content.blob))))
      )
        continue
      const forLfs = one === tree && filter === lfs && content ? content : null
      found.set(key, { path: path.toString('utf8'), filter, forLfs })
    }
  return [...found.values()]
}

/** A sentence that names the paths and says how to publish them. */
export function unfilteredSentence(unfiltered: readonly UnfilteredPath[]): string {
  const filters = [...new Set(unfiltered.map(({ filter }) => filter))]
  const set = filters.map((filter) => `filter=${filter}`).join(', ')
  return `The repository's attributes give ${namesOf(unfiltered)} to a filter (${set}), which Flightdeck does not run. Published as it is, this content would be unfiltered, for all to see who can read the repository. Nothing was committed. Take these changes back, or allow ${filters.join(', ')} in the project's settings, and ask again.`
}

/** Names paths in a sentence, at most ten of them. */
export function namesOf(files: readonly { readonly path: string }[]): string {
  return namedOf(
    files.map(({ path }) => path),
    10,
  )
}

const lfs = 'lfs'

export interface ChangedContent {
  readonly path: TreePath
  readonly mode: string
  readonly blob: string
}

/**
 * The differences of the tree from `base`: the regular files with other content, by their paths as latin1, and whether any attributes file differs.
 */
async function differencesFrom(
  { git, workspace, tree }: FilterQuestion,
  base: string,
): Promise<{ readonly changed: ReadonlyMap<string, ChangedContent>; readonly changesAttributes: boolean }> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', base, tree, '--']
  const call = { gitDir: workspace.privateGitDir, args, maxOutputBytes: maxBytes }
  const fields = splitNul((await gitOrThrow(git, call)).stdout).whole
  const changed = new Map<string, ChangedContent>()
  let changesAttributes = false
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = '', before, blob = ''] = fields[at]?.toString('latin1').split(' ') ?? []
    const path = fields[at + 1]
    if (!path) continue
    const key = path.toString('latin1')
    if (/(^|\/)\.gitattributes$/i.test(key)) changesAttributes = true
    // Only regular files go through filters.
    if (mode.startsWith('100') && before !== blob) changed.set(key, { path, mode, blob })
  }
  return { changed, changesAttributes }
}

/** The paths to which a tree's own attributes apply a filter, as git reads them. */
async function filtersOf(
  { git, treeGit, workspace }: FilterQuestion,
  tree: string,
  paths: readonly TreePath[],
): Promise<readonly { readonly path: TreePath; readonly filter: string }[]> {
  return withScratchIndex(workspace, async ({ file }) => {
    const on = {
      gitDir: workspace.privateGitDir,
      workTree: workspace.dir,
      env: { GIT_INDEX_FILE: file },
      timeoutMs: 300_000,
    }
    await gitOrThrow(git, { ...on, args: ['read-tree', tree] })
    const attributes = await gitOrThrow(treeGit, {
      ...on,
      args: ['-C', workspace.dir, 'check-attr', '--cached', '-z', '--stdin', 'filter'],
      input: Buffer.concat(paths.flatMap((path) => [path, Buffer.of(0)])),
      maxOutputBytes: maxBytes,
    })
    const fields = splitNul(attributes.stdout).whole
    return paths.flatMap((path, index) => {
      const filter = fields[3 * index + 2]?.toString('utf8') ?? ''
      return filterNamed(filter) ? [{ path, filter }] : []
    })
  })
}

/** Whether the value of `git check-attr` for `filter` names a filter. */
export const filterNamed = (value: string): boolean => !noFilter.has(value)

const noFilter = new Set(['', 'unspecified', 'unset', 'set'])

async function isPointer({ git, workspace }: FilterQuestion, blob: string): Promise<boolean> {
  const gitDir = workspace.privateGitDir
  const size = Number(await gitText(git, { gitDir, args: ['cat-file', '-s', blob] }))
  if (size > longestPointer) return false
  // Git LFS leaves an empty file as it is, without a pointer.
  if (size === 0) return true
  const content = await gitOrThrow(git, { gitDir, args: ['cat-file', 'blob', blob] })
  return pointer.test(content.stdout.toString('latin1'))
}

const longestPointer = 1024
const pointer =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-[^\n]*\n)*oid sha256:[0-9a-f]{64}\nsize \d+\n$/

/** The limit of git's output: enough for a path of a few hundred characters for each file that a tree may gain. */
const maxBytes = 64 * 1024 * 1024
