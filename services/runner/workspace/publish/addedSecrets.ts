/** Finds known secrets in the changes of a commit, before anything is committed or pushed. */
import { automatonOf, longestAt, moved, type Automaton } from '#platform/redaction/automaton.ts'
import type { TextThreads } from '../../redaction/textThreads.ts'
import { formsOf, type KnownSecret } from '#platform/redaction/secretForms.ts'
import { endedWell, GitFault, gitOrThrow } from '../git/git.ts'
import type { Git, GitCall } from '../git/git.ts'

export interface AddedSecret {
  readonly secret: KnownSecret
  /** The path of the file that has the secret, as git writes it in a patch; `null` if the path itself contains the secret. */
  readonly path: string | null
}

/**
 * The first secret that a line or a path of `to` contains and no file or path of `from` contains; both are trees or commits. A secret that is already
 * in the repository does not count, since everybody who can read the repository knows it. Throws `GitFault`.
 */
export async function addedSecret(
  git: Git,
  {
    gitDir,
    from,
    to,
    secrets,
    threads,
  }: {
    gitDir: string
    from: string
    to: string
    secrets: readonly KnownSecret[]
    threads?: Pick<TextThreads, 'run'>
  },
): Promise<AddedSecret | undefined> {
  // Secrets are sought as bytes, because git prints bytes: a line of a file need not be text.
  const sought = new Map(
    secrets.flatMap((secret) =>
      formsOf([secret.value]).map(
        (form) => [Buffer.from(form).toString('latin1'), { form, secret }] as const,
      ),
    ),
  )
  if (sought.size === 0) return undefined
  const words = [...sought.keys()].map((text) => ({ text, mark: 0 }))
  const automaton = threads ? await threads.run({ kind: 'words', words }) : automatonOf(words)
  const reader = readAdded(automaton, Math.max(...words.map(({ text }) => text.length)))
  reader.pushPaths(await pathsOf(git, gitDir, ['diff-tree', '--no-renames', '--diff-filter=A', from, to]))
  const call: GitCall = {
    gitDir,
    args: [
      'diff-tree',
      '-r',
      '--patch',
      '--unified=0',
      '--text',
      '--no-renames',
      '--no-color',
      '--no-ext-diff',
      '--no-textconv',
      from,
      to,
      '--',
    ],
    timeoutMs: 300_000,
    onStdout: (chunk) => reader.push(chunk),
  }
  const read = await git(call)
  if (!endedWell(read)) throw new GitFault(call, read)
  for (const [printed, path] of reader.end()) {
    const known = sought.get(printed)
    if (!known || (await holds(git, gitDir, from, known.form))) continue
    const paths = await pathsOf(git, gitDir, ['ls-tree', from])
    if (!paths.some((one) => one.includes(printed))) return { secret: known.secret, path }
  }
  return undefined
}

/** The paths, as latin1 text, that a command of git lists. */
async function pathsOf(
  git: Git,
  gitDir: string,
  [command = '', ...args]: readonly string[],
): Promise<readonly string[]> {
  const call = { gitDir, args: [command, '-r', '-z', '--name-only', ...args, '--'] }
  const listed = await gitOrThrow(git, { ...call, timeoutMs: 300_000, maxOutputBytes: 128 * 1024 ** 2 })
  return listed.stdout.toString('latin1').split('\0').filter(Boolean)
}

/** The length in characters above which lines are scanned in pieces. */
const longestPiece = 64 * 1024

/**
 * Reads paths, and then a patch without context as it arrives, and finds the file in which each word of `automaton` is first added. If several words
 * end at the same place, only the longest is reported: a file that contains the longest word contains the others too.
 */
function readAdded(automaton: Automaton, overlap: number) {
  const found = new Map<string, string | null>()
  /** Nodes at which a word has ended; each is handled once. */
  const seen = new Set<number>()
  let path: string | null = null
  let isInHunk = false
  let unfinished = ''

  const search = (line: string): void => {
    let node = 0
    for (let at = 1; at < line.length; at += 1) {
      node = moved(automaton, node, line.charCodeAt(at))
      const length = longestAt(automaton.outputs[node] ?? 0)
      if (length === 0 || seen.has(node)) continue
      seen.add(node)
      const word = line.slice(at + 1 - length, at + 1)
      if (!found.has(word)) found.set(word, path)
    }
  }
  const judge = (line: string): void => {
    if (line.startsWith('diff --git ')) isInHunk = false
    else if (line.startsWith('@@ ')) isInHunk = true
    else if (!line.startsWith('+')) return
    else if (!isInHunk) path = pathOf(line)
    else search(line)
  }
  return {
    /** Searches paths; called before the patch is pushed. */
    pushPaths(paths: readonly string[]): void {
      for (const one of paths) search(`+${one}`)
    },
    push(chunk: Buffer): 'more' {
      const lines = (unfinished + chunk.toString('latin1')).split('\n')
      const last = lines.pop() ?? ''
      for (const line of lines) judge(line)
      if (last.length > longestPiece) judge(last)
      // The end of a piece may be the beginning of a secret, so it is kept, with the line's sign in front.
      unfinished = last.length > longestPiece ? last.charAt(0) + last.slice(-overlap) : last
      return 'more'
    },
    end(): ReadonlyMap<string, string | null> {
      judge(unfinished)
      return found
    },
  }
}

/** The path in `+++ b/src/a.js`. git adds a tab to a name with a space, and quotes unusual names. */
function pathOf(line: string): string {
  const named = Buffer.from(line.slice('+++ '.length), 'latin1').toString('utf8').replace(/\t$/, '')
  return named.replace(/^("?)b\//, '$1')
}

/** Whether a file of a tree contains this text. The text is passed on standard input, because every user can see a command's arguments. */
async function holds(git: Git, gitDir: string, tree: string, text: string): Promise<boolean> {
  const call: GitCall = {
    gitDir,
    args: ['grep', '--quiet', '--text', '--fixed-strings', '-f', '-', tree, '--'],
    input: text,
    timeoutMs: 300_000,
  }
  const looked = await git(call)
  if (looked.endedBy === 'itself' && looked.code === 1) return false
  if (!endedWell(looked)) throw new GitFault(call, looked)
  return true
}
