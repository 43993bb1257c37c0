/** Commits that the output of a command tells of. */

export interface Commit {
  /** As git shortens it. */
  readonly id: string
  readonly subject: string
}

/** What `git commit` prints: `[main 41d9e7c] Subject`, also for the first commit and on no branch. */
const line = /^\[(?:[^\]\n]{1,300} )([0-9a-f]{7,40})\] (.{1,300})$/gm

/** The commits that a command made, by what it printed; none when it is no `git commit`. */
export function commitsIn(command: string, output: string): readonly Commit[] {
  if (!/\bgit\b/.test(command) || !/\bcommit\b/.test(command)) return []
  return [...output.matchAll(line)].flatMap(([, id, subject]) =>
    id !== undefined && subject !== undefined ? [{ id, subject }] : [],
  )
}
