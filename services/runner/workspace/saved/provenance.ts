/** Which turn wrote each line of a file: git's blame over the snapshots of the turns. */
import { commitOf, endedWell, gitText, type Git } from '../git/git.ts'
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

/** The ranges of a file as it is after the last turn, in order; `null` where it has no such file, or one that is no text. Throws `GitFault`. */
export async function provenanceOf(
  request: ProvenanceRequest,
  path: string,
): Promise<readonly LineRange[] | null> {
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
  return rangesIn(blamed.stdout.toString('latin1'), turnOf)
}

/** Each line has a header that begins with its commit and ends with its number; what was written comes after a tab. */
function rangesIn(porcelain: string, turnOf: ReadonlyMap<string, string>): readonly LineRange[] {
  const ranges: LineRange[] = []
  for (const line of porcelain.split('\n')) {
    const [, commit = '', number = ''] = /^([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?$/.exec(line) ?? []
    if (commit === '') continue
    const at = Number(number)
    const turn = turnOf.get(commit) ?? null
    const last = ranges.at(-1)
    if (last && last.turn === turn && last.to === at - 1) ranges[ranges.length - 1] = { ...last, to: at }
    else ranges.push({ from: at, to: at, turn })
  }
  return ranges
}
