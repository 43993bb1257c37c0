/** Finds which turn wrote each line of a file, with git's blame over the snapshots of the turns. */
import { createHash } from 'node:crypto'
import type { AddedFile, AddedLines } from '#domain/provenance/lineOrigins.ts'
import { lineHash } from '#platform/hashes.ts'
import { mergeBaseOf } from '../changes/changes.ts'
import { commitOf, emptyTree, endedWell, gitOrThrow, gitText, type Git } from '../git/git.ts'
import { sameIdentity } from './bundle.ts'

/** The snapshot of a turn. Its commit is in the private git directory. */
export interface TurnSnapshot {
  /** The id of the turn, under which its lines are reported. */
  readonly turn: string
  readonly work: string
}

export interface LineRange {
  /** The first line, counted from 1. `to`, the last line, is included. */
  readonly from: number
  readonly to: number
  /** The turn that wrote the lines; `null` when they are in no snapshot of a turn. */
  readonly turn: string | null
  /**
   * The path that the file had when the turn wrote the lines; the present path if git quotes that name. If `turn` is `null`, the path of the first
   * line.
   */
  readonly path: string
  /** The hash of each line, by `lineHash`. */
  readonly hashes: readonly string[]
}

export interface ProvenanceRequest {
  readonly git: Git
  readonly privateGitDir: string
  /** The commit at which the work began; `null` in an empty repository. */
  readonly startCommit: string | null
  /** The turns that are not undone, oldest first. */
  readonly turns: readonly TurnSnapshot[]
  /** Whether an undo has changed the files, so that they are no longer those of the branch's commit. */
  readonly isUndone?: boolean
}

interface TurnHistory {
  readonly tip: string
  readonly turnOf: ReadonlyMap<string, string>
  /** The commit before all turns; `null` when there was none. */
  readonly root: string | null
  /** The branch's commit at the end of the last turn. */
  readonly head: string | null
  /** The commit of the walked history that stands for `head`, a real commit. */
  readonly published: string | null
}

/**
 * A history that blame can walk: one commit for each turn, each on top of the commit before; `null` if there are no turns. If the branch has moved
 * since the previous turn, a commit with the files of the branch comes in between. Lines that the previous turn did not have then belong to that
 * commit, and so to no turn. The real commits are not walked. With them, the lines of a turn would belong to the commit that published them. Throws
 * `GitFault`.
 */
async function turnHistory(request: ProvenanceRequest): Promise<TurnHistory | null> {
  const { git, privateGitDir: gitDir, startCommit, turns } = request
  const [first] = turns
  if (first === undefined) return null
  const firstHead = await commitOf(git, gitDir, `${first.work}^`)
  // `startCommit` may be newer than the first turn: a workspace that was made again may start at the pushed branch, with all that earlier turns
  // published, even what was undone since. So the history begins at the merge base of `startCommit` and the parent of the first turn's snapshot.
  const common =
    startCommit === null || firstHead === null ? null : await mergeBaseOf(git, gitDir, startCommit, firstHead)
  const root = common ?? startCommit
  const turnOf = new Map<string, string>()
  let tip = root
  let head = root
  let published = root
  for (const { turn, work } of turns) {
    const itsHead = await commitOf(git, gitDir, `${work}^`)
    const others =
      itsHead === null || itsHead === head
        ? null
        : await othersCommit(request, itsHead, { tip, head, published })
    tip = await commitLike(request, work, [tip, others], turn)
    turnOf.set(tip, turn)
    head = itsHead
    published = others ?? published
  }
  return tip === null ? null : { tip, turnOf, root, head, published }
}

const othersNote = 'others'

/**
 * Makes a commit with the files of `now`, the branch's commit. If the branch only grew since `head`, the parent is `tip`, so the lines that the turns
 * lack belong to the new commit. A branch that was rewritten can bring back lines that a turn had removed. Then there are more parents, through which
 * blame finds where those lines came from: the commits of others, and the published commit.
 */
async function othersCommit(
  request: ProvenanceRequest,
  now: string,
  { tip, head, published }: Pick<TurnHistory, 'head' | 'published'> & { readonly tip: string | null },
): Promise<string> {
  const { git, privateGitDir: gitDir } = request
  const hasGrown = head === null || (await mergeBaseOf(git, gitDir, head, now)) === head
  if (hasGrown) return commitLike(request, now, [tip], othersNote)
  // `now` is our own commit on top of the commits of others. If there was nothing of ours to commit, `now` is the last commit of others.
  const before = await commitOf(git, gitDir, `${now}^`)
  const theirs = before === null ? null : await commitLike(request, before, [published], othersNote)
  return commitLike(request, now, [tip, theirs, published], othersNote)
}

/** Makes a commit with the files of `commit` and the given `parents`. The same arguments give the same commit. */
async function commitLike(
  { git, privateGitDir: gitDir }: ProvenanceRequest,
  commit: string,
  parents: readonly (string | null)[],
  input: string,
): Promise<string> {
  const named = new Set(parents.filter((one) => one !== null))
  const args = ['commit-tree', ...[...named].flatMap((one) => ['-p', one]), '-F', '-', `${commit}^{tree}`]
  return gitText(git, { gitDir, args, env: sameIdentity, input })
}

/**
 * The history's commit with the present files. If publishing moved the branch after the last turn, the present files are those of the branch's
 * commit. Throws `GitFault`.
 */
async function tipNow(request: ProvenanceRequest, history: TurnHistory): Promise<string> {
  const { git, privateGitDir: gitDir, isUndone } = request
  const now = await commitOf(git, gitDir, 'HEAD')
  return isUndone || now === null || now === history.head ? history.tip : othersCommit(request, now, history)
}

/** The provenance of the present content of a file. */
export interface FileProvenance {
  /** The git object name of the content. */
  readonly blob: string
  readonly ranges: readonly LineRange[]
}

/**
 * The provenance of a file; `null` when there are no turns, when there is no file at the path, or when blame fails or takes too long. Throws
 * `GitFault`.
 */
export async function provenanceOf(request: ProvenanceRequest, path: string): Promise<FileProvenance | null> {
  const { git, privateGitDir: gitDir } = request
  const history = await turnHistory(request)
  if (history === null) return null
  const { turnOf, root } = history
  const tip = await tipNow(request, history)
  const since = root === null ? [] : [`^${root}`]
  const porcelain = await blame(git, gitDir, [...since, tip], path)
  if (porcelain === null) return null
  const blob = await gitText(git, {
    gitDir,
    args: ['rev-parse', '--verify', '--end-of-options', `${tip}:${path}`],
  })
  return { blob, ranges: rangesIn(porcelain, turnOf, path) }
}

/** The output of git's blame, with one character per byte; `null` when blame fails, for example without a file at the path, or takes too long. */
async function blame(
  git: Git,
  gitDir: string,
  revisions: readonly string[],
  path: string,
): Promise<string | null> {
  const args = ['blame', '--porcelain', ...revisions, '--', path]
  const blamed = await git({ gitDir, args, timeoutMs: 8_000 })
  return endedWell(blamed) ? blamed.stdout.toString('latin1') : null
}

/** Limits for finding the origins of one commit's lines. */
export interface AddedLimits {
  readonly files: number
  readonly ranges: number
  /** The time limit for all files together, in milliseconds. */
  readonly timeoutMs: number
}

const usualLimits: AddedLimits = { files: 1_000, ranges: 20_000, timeoutMs: 8_000 }

/**
 * The lines that a commit added to its parent, with the turns that wrote them; lines that are in no snapshot have an unknown origin. Files that are
 * not text, or that only lost lines, are skipped. `leftOut` counts files that are missing because of the limits or of their names. Throws `GitFault`.
 */
export async function linesAddedBy(
  request: ProvenanceRequest,
  commit: string,
  limits: AddedLimits = usualLimits,
): Promise<{ readonly files: readonly AddedFile[]; readonly leftOut: number }> {
  const { git, privateGitDir: gitDir } = request
  const until = performance.now() + limits.timeoutMs
  const parent = await commitOf(git, gitDir, `${commit}^`)
  const history = await turnHistory(request)
  const { paths, unreadable } = await grownFiles(request, parent, commit)
  // A copy of `commit` that also has the last turn as a parent, so that blame can follow its lines to the turns.
  const joined = await commitLike(request, commit, [history?.tip ?? null, parent], 'joined')
  const files: AddedFile[] = []
  let ranges = 0
  let leftOut = unreadable
  for (const path of paths) {
    const isOver = files.length >= limits.files || ranges >= limits.ranges || performance.now() > until
    const commits = { added: commit, joined, parent }
    const lines = isOver ? null : await addedLines(request, path, commits, history?.turnOf)
    if (lines === null || ranges + lines.length > limits.ranges) leftOut += 1
    else if (lines.length > 0) files.push({ path, lines })
    ranges += lines?.length ?? 0
  }
  return { files, leftOut }
}

/** The text files to which a commit added lines. `unreadable` is how many have names that are not text. */
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
    // For a renamed file, the next two fields are its old and its new name.
    const bytes = Buffer.from(name === '' ? (fields[(at += 2)] ?? '') : name, 'latin1')
    if (added === '-' || added === '0') continue
    const path = bytes.toString('utf8')
    if (Buffer.from(path).equals(bytes)) paths.push(path)
    else unreadable += 1
  }
  return { paths, unreadable }
}

/**
 * Returns the lines that `added` has and `parent` lacks; `null` when finding them takes too long, or when there are too many. `joined` is a commit
 * with the same files as `added`. It has the history of the turns among its parents, so that blame finds the turns.
 */
async function addedLines(
  { git, privateGitDir: gitDir }: ProvenanceRequest,
  path: string,
  {
    added,
    joined,
    parent,
  }: { readonly added: string; readonly joined: string; readonly parent: string | null },
  turns: ReadonlyMap<string, string> | undefined,
): Promise<readonly AddedLines[] | null> {
  const since = parent === null ? [] : [`^${parent}`]
  const [lines, origins] = await Promise.all(
    [added, joined].map(async (from) => {
      const porcelain = await blame(git, gitDir, [...since, from], path)
      return porcelain === null ? null : blamedLines(porcelain)
    }),
  )
  // Blame of `added` says which lines are new, and blame of `joined` only says which turn wrote them: of two parents, blame prefers the one that has
  // the same file.
  if (!lines || !origins) return null
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
  /** The line number, counted from 1. */
  readonly number: number
  /** The file's name in that commit as git writes it, in quotes if it has unusual characters. One character per byte. */
  readonly file: string
  /** The text of the line, one character per byte. */
  readonly text: string
}

/**
 * Parses the output of blame. For each line of the file, the output has a header with the line's commit and number, and then the line's text after a
 * tab.
 */
function blamedLines(porcelain: string): readonly BlamedLine[] {
  const lines: BlamedLine[] = []
  const files = new Map<string, string>()
  let header: readonly [commit: string, number: number] | null = null
  for (const line of porcelain.split('\n')) {
    if (header === null) {
      const [, commit = '', number = ''] = /^([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?$/.exec(line) ?? []
      if (commit !== '') header = [commit, Number(number)]
    } else if (line.startsWith('\t')) {
      const [commit, number] = header
      lines.push({ commit, number, file: files.get(commit) ?? '', text: line.slice(1) })
      header = null
      // git prints the file's name once per commit, or each time if the commit has lines of several files.
    } else if (line.startsWith('filename ')) files.set(header[0], line.slice('filename '.length))
  }
  return lines
}

function rangesIn(
  porcelain: string,
  turnOf: ReadonlyMap<string, string>,
  requestedPath: string,
): readonly LineRange[] {
  const ranges: (LineRange & { to: number; readonly hashes: string[] })[] = []
  for (const { commit, number: at, file, text } of blamedLines(porcelain)) {
    const turn = turnOf.get(commit) ?? null
    const path = file.startsWith('"') ? requestedPath : Buffer.from(file, 'latin1').toString('utf8')
    const hash = lineHash(Buffer.from(text, 'latin1'))
    const last = ranges.at(-1)
    if (last && last.turn === turn && (turn === null || last.path === path) && last.to === at - 1) {
      last.to = at
      last.hashes.push(hash)
    } else ranges.push({ from: at, to: at, turn, path, hashes: [hash] })
  }
  return ranges
}
