/** Finds what people expect of a clone but do not find in our clone of a repository: submodules, filtered files, or the whole history. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { Scratch } from '../../scratch.ts'
import { splitNul } from '../changes/indexDifferences.ts'
import { filterNamed } from '../publish/unfilteredPaths.ts'
import { endedWell, GitFault, gitOrThrow, type Git } from './git.ts'
import { isShallowRepository } from './repositoryLayout.ts'

export interface Submodule {
  /** The submodule's name in `.gitmodules` and in git's settings. */
  readonly name: string
  readonly path: string
  /** The repository as `owner/name` if it is on the same code host, else its address in `.gitmodules`. */
  readonly repository: string
  readonly isOnHost: boolean
}

export interface Survey {
  readonly submodules: readonly Submodule[]
  /** The names of clean filters that apply to files of the repository. */
  readonly filters: readonly string[]
  /** Whether the history is shallow. */
  readonly isShallow: boolean
}

interface Surveyed {
  readonly gitDir: string
  readonly commit: string
  /** The address of the repository itself. The addresses of submodules may be relative to it. */
  readonly url: string
}

/** The total length of the kept surveys as JSON: a repository may name submodules by the million. */
const keptLength = 1_000_000

/** Returns a function like `surveyOf` that keeps the surveys of recent commits, since a commit never changes. */
export function openSurveys(deps: Parameters<typeof surveyOf>[0]): (at: Surveyed) => Promise<Survey> {
  const kept = new LRUCache<string, Survey>({
    maxSize: keptLength,
    sizeCalculation: (survey, key) => key.length + JSON.stringify(survey).length,
  })
  return async (at) => {
    const key = `${at.commit} ${at.url}`
    const found = kept.get(key)
    if (found) return { ...found, isShallow: await isShallowRepository(at.gitDir) }
    const survey = await surveyOf(deps, at)
    kept.set(key, survey)
    return survey
  }
}

/** Finds a commit's submodules and filters, and whether the history is shallow. Throws `GitFault`. */
export async function surveyOf(
  { git, scratch }: { readonly git: Git; readonly scratch: Scratch },
  { gitDir, commit, url }: Surveyed,
): Promise<Survey> {
  const on = { gitDir, maxOutputBytes: maxBytes }
  const listed = await gitOrThrow(git, { ...on, args: ['ls-tree', '-r', '-z', '--name-only', commit] })
  const paths = splitNul(listed.stdout).whole
  const names = new Set(paths.map((path) => path.toString('latin1')))
  const hasAttributes = [...names].some((name) => /(^|\/)\.gitattributes$/.test(name))
  return {
    submodules: names.has('.gitmodules') ? await submodulesOf(git, { gitDir, commit, url }) : [],
    filters: hasAttributes ? await filtersOf({ git, scratch }, { gitDir, commit }, listed.stdout) : [],
    isShallow: await isShallowRepository(gitDir),
  }
}

/** The submodules in the repository's `.gitmodules`, as git reads it; empty when git cannot read it. Throws `GitFault` when git took too long. */
export async function submodulesOf(
  git: Git,
  { gitDir, commit, url }: Surveyed,
): Promise<readonly Submodule[]> {
  const named = ['--get-regexp', '^submodule\\..*\\.(path|url)$']
  const call = { gitDir, args: ['config', '-z', '--blob', `${commit}:.gitmodules`, ...named] }
  const listed = await git(call)
  // An empty list would be kept as the answer for this commit.
  if (listed.endedBy === 'time_limit') throw new GitFault(call, listed)
  if (!endedWell(listed)) return []
  const known = new Map<string, { path?: string; url?: string }>()
  for (const entry of listed.stdout.toString('utf8').split('\0')) {
    const [, name, key, value] = /^submodule\.(.*)\.(path|url)\n(.*)$/s.exec(entry) ?? []
    if (name !== undefined && value !== undefined)
      known.set(name, { ...known.get(name), [key === 'path' ? 'path' : 'url']: value })
  }
  return [...known].flatMap(([name, one]) =>
    // Entries with control characters are skipped, because these names are printed in a terminal.
    one.path === undefined || one.url === undefined || /\p{Cc}/u.test(name + one.path + one.url)
      ? []
      : [{ name, path: one.path, ...repositoryAt(one.url, url) }],
  )
}

/** The repository that a submodule's address names. */
export function repositoryAt(written: string, own: string): Pick<Submodule, 'repository' | 'isOnHost'> {
  const other = { repository: written, isOnHost: false }
  if (!URL.canParse(own)) return other
  const isRelative = /^\.\.?\//.test(written)
  if (!isRelative && !URL.canParse(written)) return other
  const address = isRelative ? new URL(written, `${own}/`) : new URL(written)
  if (address.host !== new URL(own).host) return other
  const name = /^\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(address.pathname)?.[1]
  return name === undefined ? other : { repository: name, isOnHost: true }
}

async function filtersOf(
  { git, scratch }: { readonly git: Git; readonly scratch: Scratch },
  { gitDir, commit }: { readonly gitDir: string; readonly commit: string },
  paths: Buffer,
): Promise<readonly string[]> {
  const folder = await scratch.make()
  try {
    const on = { gitDir, env: { GIT_INDEX_FILE: join(folder, 'index') }, maxOutputBytes: maxBytes }
    await gitOrThrow(git, { ...on, args: ['read-tree', commit] })
    const args = ['check-attr', '--cached', '-z', '--stdin', 'filter']
    const attributes = await gitOrThrow(git, { ...on, args, input: paths })
    const fields = splitNul(attributes.stdout).whole
    const values = fields.flatMap((field, index) => (index % 3 === 2 ? [field.toString('utf8')] : []))
    return [...new Set(values)].filter(filterNamed)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** How many bytes git may print about a repository's files. */
const maxBytes = 64 * 1024 * 1024
