/**
 * Reads the files of a repository that are for agents: skills, commands, subagents, rules, instructions and settings. They are read from a commit,
 * and never from a tree that an agent may have written to.
 */
import { splitNul } from '../changes/indexDifferences.ts'
import { namedOf } from '../names.ts'
import type { Workspace } from '../workspace.ts'
import { endedWell, gitOrThrow, type Git } from './git.ts'
import { textWritten } from './refs.ts'

export interface AbilityFile {
  /** The path relative to the repository. */
  readonly path: string
  readonly content: Buffer
  readonly isExecutable: boolean
}

export interface AbilityFiles {
  readonly files: readonly AbilityFile[]
  /** Sentences about files that were left out, one for each reason. */
  readonly notes: readonly string[]
  /** The paths of the files that were left out. */
  readonly leftOut: readonly string[]
}

export const noAbilityFiles: AbilityFiles = { files: [], notes: [], leftOut: [] }

export const abilityLimits = { files: 500, fileBytes: 256 * 1024, allBytes: 4 * 1024 * 1024 }

/** The settings of `claude`. Only hooks that the project's owner allowed are ever taken from them. */
export const settingsFile = '.claude/settings.json'

const wanted =
  /^\.claude\/(?:(?:skills|commands|agents|rules)\/|settings\.json$)|^(?!\.claude\/).*\/(?:CLAUDE|AGENTS)\.md$/s
const longestPath = 500
const longestName = 200
/** How many bytes git's list of a repository's files may have. */
const maxListedBytes = 64 * 1024 * 1024
const maxContentBytes = abilityLimits.allBytes + abilityLimits.files * 200
const namesShown = 5
const isRegular = new Set(['100644', '100664', '100755'])

interface Entry {
  readonly mode: string
  readonly id: string
  readonly path: string
}

/** Reads the files at a commit. Throws `GitFault`. */
export async function readAbilityFiles(
  git: Git,
  { gitDir, commit }: { readonly gitDir: string; readonly commit: string },
): Promise<AbilityFiles> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', commit]
  const listed = await gitOrThrow(git, { gitDir, args, maxOutputBytes: maxListedBytes })
  const entries = splitNul(listed.stdout).whole.flatMap(entryOf)
  if (entries.length === 0) return noAbilityFiles
  const links = entries.filter(({ mode }) => !isRegular.has(mode))
  const odd = entries.filter(({ mode, path }) => isRegular.has(mode) && !isPlainPath(path))
  const plain = entries.filter(({ mode, path }) => isRegular.has(mode) && isPlainPath(path))
  const { chosen, tooLarge, tooMany } = await withinLimits(git, gitDir, plain)
  return {
    files: await contentsOf(git, gitDir, chosen),
    notes: [
      ...sentence('are no plain files', links),
      ...sentence('have a name that cannot be used', odd),
      ...sentence('are larger than 256 KiB', tooLarge),
      ...sentence('are more than 500 files or 4 MiB', tooMany),
    ],
    leftOut: [...links, ...odd, ...tooLarge, ...tooMany].map(({ path }) => path),
  }
}

/**
 * The commit of the base branch from which the work in a workspace began; `null` when there is none. Commits that were pushed to the branch of the
 * task do not count.
 */
export async function baseCommitOf(
  git: Git,
  { privateGitDir: gitDir, startCommit, baseBranch }: Workspace,
): Promise<string | null> {
  if (startCommit === null) return null
  // For most tasks, reading this file saves a start of git.
  if (textWritten(gitDir, `refs/remotes/origin/${baseBranch}`).trim() === startCommit) return startCommit
  const found = await git({ gitDir, args: ['merge-base', startCommit, `refs/remotes/origin/${baseBranch}`] })
  return endedWell(found) ? found.stdout.toString('utf8').trim() : null
}

function entryOf(line: Buffer): readonly Entry[] {
  const [, mode, id, path] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line.toString('utf8')) ?? []
  const isWanted = mode !== undefined && id !== undefined && path !== undefined && wanted.test(path)
  return isWanted ? [{ mode, id, path }] : []
}

function isPlainPath(path: string): boolean {
  const names = path.split('/')
  return (
    path.length <= longestPath &&
    !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd\\]/u.test(path) &&
    names.every((name) => name !== '' && name !== '.' && name !== '..' && name.length <= longestName)
  )
}

async function withinLimits(git: Git, gitDir: string, entries: readonly Entry[]) {
  const sizes = await sizesOf(git, gitDir, entries)
  const chosen: Entry[] = []
  const tooLarge: Entry[] = []
  const tooMany: Entry[] = []
  let bytes = 0
  for (const entry of entries) {
    const size = sizes.get(entry.id) ?? Number.POSITIVE_INFINITY
    if (size > abilityLimits.fileBytes) {
      tooLarge.push(entry)
    } else if (chosen.length === abilityLimits.files || bytes + size > abilityLimits.allBytes) {
      tooMany.push(entry)
    } else {
      bytes += size
      chosen.push(entry)
    }
  }
  return { chosen, tooLarge, tooMany }
}

async function sizesOf(
  git: Git,
  gitDir: string,
  entries: readonly Entry[],
): Promise<ReadonlyMap<string, number>> {
  const input = entries.map(({ id }) => `${id}\n`).join('')
  const asked = ['cat-file', '--batch-check=%(objectname) %(objectsize)']
  const told = await gitOrThrow(git, { gitDir, args: asked, input })
  const lines = told.stdout.toString('utf8').split('\n')
  return new Map(
    lines.flatMap((line) => {
      const [id = '', size = ''] = line.split(' ')
      return /^\d+$/.test(size) ? [[id, Number(size)] as const] : []
    }),
  )
}

async function contentsOf(
  git: Git,
  gitDir: string,
  entries: readonly Entry[],
): Promise<readonly AbilityFile[]> {
  if (entries.length === 0) return []
  const input = entries.map(({ id }) => `${id}\n`).join('')
  const args = ['cat-file', '--batch=%(objectsize)']
  const { stdout } = await gitOrThrow(git, { gitDir, args, input, maxOutputBytes: maxContentBytes })
  let at = 0
  return entries.map(({ path, mode }) => {
    const headEnd = stdout.indexOf('\n', at)
    const start = headEnd + 1
    const end = start + Number(stdout.toString('latin1', at, headEnd))
    at = end + 1
    return { path, content: stdout.subarray(start, end), isExecutable: mode === '100755' }
  })
}

function sentence(why: string, entries: readonly Entry[]): readonly string[] {
  const names = entries.map(({ path }) =>
    path.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd').slice(0, 100),
  )
  return entries.length === 0
    ? []
    : [
        `The agent does not get these files of the repository, since they ${why}: ${namedOf(names, namesShown)}.`,
      ]
}
