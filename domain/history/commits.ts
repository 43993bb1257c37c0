/** Finds commits in the output of a command. */

export interface Commit {
  /** The abbreviated id, as git prints it. */
  readonly id: string
  readonly subject: string
}

/** What `git commit` prints: `[main 41d9e7c] Subject`, including the forms for a first commit and a detached HEAD. */
const line = /^\[(?:[^\]\n]{1,300} )([0-9a-f]{7,40})\] (.{1,300})$/gm

/** The commits that a command made, according to its output; empty when it is not a `git commit`. */
export function commitsIn(command: string, output: string): readonly Commit[] {
  if (!/\bgit\b/.test(command) || !/\bcommit\b/.test(command)) return []
  return [...output.matchAll(line)].flatMap(([, id, subject]) =>
    id !== undefined && subject !== undefined ? [{ id, subject }] : [],
  )
}
