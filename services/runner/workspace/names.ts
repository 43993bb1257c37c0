/** Names that the runner derives from people's input: names of branches, and of folders that cannot lead outside their parent folder. */
import { createHash } from 'node:crypto'
import { ourBranches } from '#domain/kernel/names.ts'

/** The branch that a task works on, `flightdeck/<slug>-<short id>`: ASCII, and a valid branch name whatever the title is. */
export function workingBranchName(title: string, taskId: string): string {
  const slug = asciiSlug(title, 40)
  return `${ourBranches}/${slug || 'task'}-${shortHash(taskId, 8)}`
}

/** The identity of a repository's mirror. A name can pass to another repository; the code host's number cannot. */
export interface MirroredRepository {
  readonly owner: string
  readonly name: string
  /** The code host's number; '' when the project has none. */
  readonly id: string
}

/** The path of a repository's mirror in the mirrors' folder. No two addresses and no two repositories share a path. */
export function mirrorPath(url: string, repository: MirroredRepository): string {
  const owner = asciiSlug(repository.owner, 60) || 'owner'
  const { id } = repository
  const name = [asciiSlug(repository.name, 60) || 'repository', ...(id ? [asciiSlug(id, 20)] : [])].join('-')
  return `${owner}/${name}-${shortHash(id ? `${url}\n${id}` : url, 12)}.git`
}

/**
 * Whether the mirror at `path`, relative to the mirrors' folder, belongs to this repository under its present name, even if it was cloned from
 * another address. False for a path without a number if the repository has one.
 */
export function isMirrorOf(path: string, repository: MirroredRepository): boolean {
  const [ours, other] = [mirrorPath('', repository), path].map((one) => one.replace(/[0-9a-f]{12}\.git$/, ''))
  return ours === other
}

/** Whether a task's id can be the name of a folder. The ids of our tasks are UUIDs. */
export function isTaskFolderName(taskId: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(taskId)
}

function asciiSlug(text: string, longest: number): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, longest)
    .replace(/^-+|-+$/g, '')
}

function shortHash(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}

/**
 * The branches at the host that determine the name of a working branch: those that would conflict with it, the one with its name, and the one with
 * the name that replaces it.
 */
export function branchCandidates(branch: string): readonly string[] {
  const names = branch.split('/')
  const folders = names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
  return [...folders, branch, names.join('-')]
}

/** A name under which the branch can exist at the host. If the host has a branch `a`, git cannot have `a/b`, so the name is then `a-b`. */
export function usableBranchName(heads: ReadonlyMap<string, string>, branch: string): string {
  const names = branch.split('/')
  const isTaken = names.slice(1).some((_, index) => heads.has(names.slice(0, index + 1).join('/')))
  return isTaken ? names.join('-') : branch
}

/** The first names for a sentence, and how many more there are. */
export function namedOf(names: readonly string[], count: number): string {
  const others = names.length - count
  return names.slice(0, count).join(', ') + (others > 0 ? ` and ${others} more` : '')
}

/** Whether git can have both branches: it cannot have `a` beside `a/b`. */
export function canCoexist(one: string, other: string): boolean {
  return one !== other && !one.startsWith(`${other}/`) && !other.startsWith(`${one}/`)
}
