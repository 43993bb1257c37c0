/** Known secrets in what a commit would add: looked for before anything is committed, and so before it can be pushed. */
import { formsOf, type KnownSecret } from '../output/secretForms.ts'
import { endedWell, GitFault } from './git.ts'
import type { Git, GitCall } from './git.ts'

export interface AddedSecret {
  readonly secret: KnownSecret
  /** The file, as git names it in a patch. */
  readonly path: string
}

/**
 * The first secret that a line of `to` holds and no file of `from` does: what the repository has already is a secret to nobody who can
 * read it. Both are trees or commits. Throws `GitFault`.
 */
export async function addedSecret(
  git: Git,
  {
    gitDir,
    from,
    to,
    secrets,
  }: { gitDir: string; from: string; to: string; secrets: readonly KnownSecret[] },
): Promise<AddedSecret | undefined> {
  const sought = new Map(secrets.flatMap((secret) => formsOf([secret.value]).map((form) => [form, secret])))
  if (sought.size === 0) return undefined
  const reader = readAdded([...sought.keys()])
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
  for (const [form, path] of reader.end()) {
    const secret = sought.get(form)
    if (secret && !(await holds(git, gitDir, from, form))) return { secret, path }
  }
  return undefined
}

/** Longer lines are looked through in pieces; characters. */
const longestPiece = 64 * 1024

/** Reads a patch without context as it comes, for where each of these stands in an added line first. */
function readAdded(forms: readonly string[]) {
  // Git prints bytes, and a line of a file need not be text.
  const asPrinted = forms.map((form) => [form, Buffer.from(form).toString('latin1')] as const)
  const overlap = Math.max(...asPrinted.map(([, printed]) => printed.length))
  const found = new Map<string, string>()
  let path = ''
  let isInHunk = false
  let unfinished = ''

  const judge = (line: string): void => {
    if (line.startsWith('diff --git ')) isInHunk = false
    else if (line.startsWith('@@ ')) isInHunk = true
    else if (!line.startsWith('+')) return
    else if (!isInHunk) path = pathOf(line)
    else
      for (const [form, printed] of asPrinted)
        if (!found.has(form) && line.includes(printed)) found.set(form, path)
  }
  return {
    push(chunk: Buffer): 'more' {
      const lines = (unfinished + chunk.toString('latin1')).split('\n')
      const last = lines.pop() ?? ''
      for (const line of lines) judge(line)
      if (last.length > longestPiece) judge(last)
      // What a piece ends with may be the start of a secret; the mark of the line stays before it.
      unfinished = last.length > longestPiece ? last.charAt(0) + last.slice(-overlap) : last
      return 'more'
    },
    end(): ReadonlyMap<string, string> {
      judge(unfinished)
      return found
    },
  }
}

/** Of `+++ b/src/a.js`: git ends a name that has a space with a tab, and quotes what is no plain name. */
function pathOf(line: string): string {
  const named = Buffer.from(line.slice('+++ '.length), 'latin1').toString('utf8').replace(/\t$/, '')
  return named.replace(/^("?)b\//, '$1')
}

/** Whether a file of a tree has this text. It is given in a file, since every user sees a command's words. */
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
