/** Which turn wrote each line of a file: git's blame over the snapshots of the turns. */
import { createHash } from 'node:crypto'
import type { AddedFile, AddedLines } from '#domain/provenance/lineOrigins.ts'
import { commitOf, emptyTree, endedWell, gitOrThrow, gitText, type Git } from '../git/git.ts'
import { sameIdentity } from './bundle.ts'

/** The snapshot of a turn, whose commit the private git directory has. */
export interface TurnSnapshot {
  /** What the lines of this turn are named by. */
  readonly turn: string
  readonly work: string
}

export interface LineRange {
  /** Counted from 1, both included. */
  readonly from: number
  readonly to: number
  /** `null` where no snapshot of ours has brought the lines in. */
  readonly turn: string | null
}

export interface ProvenanceRequest {
  readonly git: Git
  readonly privateGitDir: string
  /** Where the work began; `null` in an empty repository. */
  readonly startCommit: string | null
  /** Those that count, oldest first. */
  readonly turns: readonly TurnSnapshot[]
}

/** One commit a turn, each on the one before, so that blame can walk them; `null` where there is no turn. Throws `GitFault`. */
export async function turnHistory({
  git,
  privateGitDir: gitDir,
  startCommit,
  turns,
}: ProvenanceRequest): Promise<{
  readonly tip: string
  readonly turnOf: ReadonlyMap<string, string>
} | null> {
  const turnOf = new Map<string, string>()
  let tip = startCommit
  let head = startCommit
  for (const { turn, work } of turns) {
    const itsHead = await commitOf(git, gitDir, `${work}^`)
    // What was pulled in from others meanwhile is in the branch, and not the turn's.
    const parents = [tip, itsHead === head ? null : itsHead].filter((parent) => parent !== null)
    const commit: string = await gitText(git, {
      gitDir,
      args: [
        'commit-tree',
        ...[...new Set(parents)].flatMap((parent) => ['-p', parent]),
        '-F',
        '-',
        `${work}^{tree}`,
      ],
      env: sameIdentity,
      input: turn,
    })
    turnOf.set(commit, turn)
    tip = commit
    head = itsHead
  }
  return turnOf.size === 0 || tip === null ? null : { tip, turnOf }
}

/** A file as it is after the last turn. */
export interface FileProvenance {
  /** Git's name of its content. */
  readonly blob: string
  /** In order. */
  readonly ranges: readonly LineRange[]
}

/** `null` where there is no such file after the last turn, or one that is no text. Throws `GitFault`. */
export async function provenanceOf(request: ProvenanceRequest, path: string): Promise<FileProvenance | null> {
  const { git, privateGitDir: gitDir, startCommit } = request
  const history = await turnHistory(request)
  if (history === null) return null
  const { tip, turnOf } = history
  const blamed = await git({
    gitDir,
    args: [
      'blame',
      '--porcelain',
      ...(startCommit === null ? [tip] : [`${startCommit}..${tip}`]),
      '--',
      path,
    ],
    timeoutMs: 8_000,
  })
  if (!endedWell(blamed)) return null
  const blob = await gitText(git, {
    gitDir,
    args: ['rev-parse', '--verify', '--end-of-options', `${tip}:${path}`],
  })
  return { blob, ranges: rangesIn(blamed.stdout.toString('latin1'), turnOf) }
}

/** The limits of what is found out about one commit. */
export interface AddedLimits {
  readonly files: number
  readonly ranges: number
  /** Milliseconds, for all files. */
  readonly withinMs: number
}

const usualLimits: AddedLimits = { files: 1_000, ranges: 20_000, withinMs: 8_000 }

/**
 * The lines that a commit added to its parent, with the turns that wrote them; lines that no snapshot has are of unknown origin. Files that
 * are no text, or only lost lines, are not among them. Throws `GitFault`.
 */
export async function linesAddedBy(
  request: ProvenanceRequest,
  commit: string,
  limits: AddedLimits = usualLimits,
): Promise<{ readonly files: readonly AddedFile[]; readonly leftOut: number }> {
  const { git, privateGitDir: gitDir } = request
  const until = performance.now() + limits.withinMs
  const parent = await commitOf(git, gitDir, `${commit}^`)
  const history = await turnHistory(request)
  const { paths, unreadable } = await grownFiles(request, parent, commit)
  const joined = await joinedWithTurns(request, { commit, parent, tip: history?.tip ?? null })
  const files: AddedFile[] = []
  let ranges = 0
  let leftOut = unreadable
  for (const path of paths) {
    const isOver = files.length >= limits.files || ranges >= limits.ranges || performance.now() > until
    const lines = isOver
      ? null
      : await addedLines(request, { path, commit, joined, parent, turns: history?.turnOf })
    if (lines === null || ranges + lines.length > limits.ranges) leftOut += 1
    else if (lines.length > 0) files.push({ path, lines })
    ranges += lines?.length ?? 0
  }
  return { files, leftOut }
}

/** The text files to which a commit added lines. `unreadable`: how many have names that are no text. */
async function grownFiles(
  { git, privateGitDir: gitDir }: ProvenanceRequest,
  parent: string | null,
  commit: string,
): Promise<{ readonly paths: readonly string[]; readonly unreadable: number }> {
  const from = parent ?? (await emptyTree(git, gitDir))
  const flags = ['--no-ext-diff', '--no-textconv', '--find-renames', '--numstat', '-z']
  const listed = await gitOrThrow(git, { gitDir, args: ['diff', ...flags, from, commit, '--'] })
  const fields = listed.stdout.toString('latin1').split('\0')
  const paths: string[] = []
  let unreadable = 0
  for (let at = 0; at < fields.length; at += 1) {
    const [, added = '-', name = ''] = /^(\d+|-)\t(?:\d+|-)\t(.*)$/s.exec(fields[at] ?? '') ?? []
    // Of a renamed file the old name and the new one follow.
    const bytes = Buffer.from(name === '' ? (fields[(at += 2)] ?? '') : name, 'latin1')
    if (added === '-' || added === '0') continue
    const path = bytes.toString('utf8')
    if (Buffer.from(path).equals(bytes)) paths.push(path)
    else unreadable += 1
  }
  return { paths, unreadable }
}

/** A commit like this one that has the turns among its parents, so that blame can walk from its lines to them. */
async function joinedWithTurns(
  { git, privateGitDir: gitDir }: ProvenanceRequest,
  {
    commit,
    parent,
    tip,
  }: { readonly commit: string; readonly parent: string | null; readonly tip: string | null },
): Promise<string> {
  const parents = [...new Set([tip, parent].filter((one) => one !== null))]
  return gitText(git, {
    gitDir,
    args: ['commit-tree', ...parents.flatMap((one) => ['-p', one]), '-F', '-', `${commit}^{tree}`],
    env: sameIdentity,
    input: 'joined',
  })
}

interface AddedAsked {
  readonly path: string
  readonly commit: string
  /** See `joinedWithTurns`. */
  readonly joined: string
  readonly parent: string | null
  readonly turns: ReadonlyMap<string, string> | undefined
}

/** `null` where it takes too long, or there is too much of it. */
async function addedLines(
  { git, privateGitDir: gitDir }: ProvenanceRequest,
  { path, commit: added, joined, parent, turns }: AddedAsked,
): Promise<readonly AddedLines[] | null> {
  const blame = async (from: string) => {
    const since = parent === null ? [] : [`^${parent}`]
    const args = ['blame', '--porcelain', ...since, from, '--', path]
    const blamed = await git({ gitDir, args, timeoutMs: 8_000 })
    return endedWell(blamed) ? blamedLines(blamed.stdout.toString('latin1')) : null
  }
  // Which lines are new is asked of the commit itself: of two parents blame prefers the one that has the same file.
  const [lines, origins] = await Promise.all([blame(added), blame(joined)])
  if (lines === null || origins === null) return null
  const groups: { from: number; to: number; turn: string | null; texts: string[] }[] = []
  for (const [index, { commit, number, text }] of lines.entries()) {
    if (commit !== added) continue
    const turn = turns?.get(origins[index]?.commit ?? '') ?? null
    const last = groups.at(-1)
    if (last && last.turn === turn && last.to === number - 1) {
      last.to = number
      last.texts.push(text)
    } else groups.push({ from: number, to: number, turn, texts: [text] })
  }
  return groups.map(({ from, to, turn: executionId, texts }) => ({
    from,
    to,
    executionId,
    hash: hashOf(texts),
  }))
}

function hashOf(lines: readonly string[]): string {
  return createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''), 'latin1')
    .digest('hex')
}

interface BlamedLine {
  readonly commit: string
  /** Counted from 1. */
  readonly number: number
  /** Its bytes, one a character. */
  readonly text: string
}

/** Each line has a header that begins with its commit and ends with its number; what was written comes after a tab. */
function blamedLines(porcelain: string): readonly BlamedLine[] {
  const lines: BlamedLine[] = []
  let header: readonly [commit: string, number: number] | null = null
  for (const line of porcelain.split('\n')) {
    if (line.startsWith('\t') && header !== null) {
      lines.push({ commit: header[0], number: header[1], text: line.slice(1) })
      header = null
    }
    const [, commit = '', number = ''] = /^([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?$/.exec(line) ?? []
    if (commit !== '') header = [commit, Number(number)]
  }
  return lines
}

function rangesIn(porcelain: string, turnOf: ReadonlyMap<string, string>): readonly LineRange[] {
  const ranges: LineRange[] = []
  for (const { commit, number: at } of blamedLines(porcelain)) {
    const turn = turnOf.get(commit) ?? null
    const last = ranges.at(-1)
    if (last && last.turn === turn && last.to === at - 1) ranges[ranges.length - 1] = { ...last, to: at }
    else ranges.push({ from: at, to: at, turn })
  }
  return ranges
}
