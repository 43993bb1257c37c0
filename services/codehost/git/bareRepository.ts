/** Reads and writes a bare git repository. Commits are named by hash, and branches by name. */
import { mainLanguage } from './language.ts'
import { GitFault } from './runGit.ts'
import type { Git } from './runGit.ts'

/** The author or committer of a commit. */
export interface Signature {
  readonly name: string
  readonly email: string
}

export interface Commit {
  readonly sha: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Signature & { readonly date: string }
  readonly committer: Signature & { readonly date: string }
  readonly message: string
}

export interface DiffSize {
  readonly files: number
  readonly additions: number
  readonly deletions: number
}

/** The result of merging two commits. `conflicts` names the files that cannot be merged; it is empty when the commits have no common ancestor. */
export type MergedTree =
  | { readonly kind: 'clean'; readonly tree: string }
  | { readonly kind: 'conflict'; readonly conflicts: readonly string[] }

export interface Bare {
  readonly dir: string
  /** The hash of each branch's last commit, by the name of the branch and in git's order. */
  branches(): Promise<ReadonlyMap<string, string>>
  /** The branch that HEAD names, even if the branch does not exist; `undefined` when HEAD is detached. */
  headBranch(): Promise<string | undefined>
  setHeadBranch(branch: string): Promise<void>
  mergeBase(one: string, other: string): Promise<string | undefined>
  isAncestor(ancestor: string, descendant: string): Promise<boolean>
  /** The number of commits in `head` that are not in `base`. */
  count(base: string, head: string): Promise<number>
  /** The newest commits, at most `limit`, that are in `head` but not in `base`, oldest first. */
  commits(base: string | undefined, head: string, limit: number): Promise<readonly Commit[]>
  /** The number of files and lines that `head` changed since its common ancestor with `base` or, if there is none, compared with `base`. */
  diffSize(base: string, head: string): Promise<DiffSize>
  /** The changes in `head`, compared with the same commit as in `diffSize`, as a unified diff that is cut at `maxBytes`. */
  diff(base: string, head: string, maxBytes: number): Promise<{ text: string; truncated: boolean }>
  /**
   * The differences in one file between two commits, as a diff without context; `undefined` when git exits with an error, or the diff is too large.
   */
  changes(from: string, to: string, path: string): Promise<string | undefined>
  mergeTree(base: string, head: string): Promise<MergedTree>
  commitTree(request: {
    tree: string
    parents: readonly string[]
    message: string
    by: Signature
    at: Date
  }): Promise<string>
  /** Sets a ref; if `old` is given, only if the ref still has this value. Returns whether the ref was set. */
  updateRef(ref: string, sha: string, old?: string): Promise<boolean>
  /** Deletes a ref if it still has the value `old`. Returns whether the ref was deleted. */
  deleteRef(ref: string, old: string): Promise<boolean>
  /** The main language of the files in a commit; `null` when unknown, and when there are too many files. */
  language(sha: string): Promise<string | null>
}

const slow = { timeLimit: 60_000 }
const diffFlags = ['--no-color', '--no-ext-diff', '--no-textconv', '--find-renames']

/** Opens the bare repository in the folder `dir`, which must exist. */
export function openBare(git: Git, dir: string): Bare {
  const at = [`--git-dir=${dir}`]
  return {
    ...refCalls(git, at),
    ...historyCalls(git, at),
    ...diffCalls(git, at),
    dir,
  }
}

/** The functions of `Bare` that read and write refs. */
function refCalls(
  git: Git,
  at: readonly string[],
): Pick<Bare, 'branches' | 'headBranch' | 'setHeadBranch' | 'updateRef' | 'deleteRef'> {
  return {
    branches: async () => {
      const text = await git.text(
        [...at, 'for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads/'],
        { maxBytes: 64 * 1024 * 1024 },
      )
      const lines = text === '' ? [] : text.split('\n')
      return new Map(
        lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]),
      )
    },
    headBranch: async () => {
      const result = await git.run([...at, 'symbolic-ref', '--quiet', 'HEAD'])
      return /^refs\/heads\/(.+)\n$/.exec(result.stdout.toString('utf8'))?.[1]
    },
    setHeadBranch: async (branch) => {
      await git.text([...at, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`])
    },
    updateRef: async (ref, sha, old) => {
      const result = await git.run([...at, 'update-ref', ref, sha, ...(old === undefined ? [] : [old])])
      return result.code === 0
    },
    deleteRef: async (ref, old) => (await git.run([...at, 'update-ref', '-d', ref, old])).code === 0,
  }
}

/** The functions of `Bare` that read commits. */
function historyCalls(
  git: Git,
  at: readonly string[],
): Pick<Bare, 'mergeBase' | 'isAncestor' | 'count' | 'commits' | 'language'> {
  return {
    mergeBase: (one, other) => mergeBase(git, at, one, other),
    isAncestor: async (ancestor, descendant) => {
      const result = await git.run([...at, 'merge-base', '--is-ancestor', ancestor, descendant], slow)
      if (result.code > 1) throw new GitFault(`git merge-base failed: ${result.stderr.trim()}`)
      return result.code === 0
    },
    count: async (base, head) =>
      Number(await git.text([...at, 'rev-list', '--count', head, `^${base}`], slow)),
    commits: async (base, head, limit) => {
      const format = '%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B%x00'
      const range = base === undefined ? [head] : [head, `^${base}`]
      const text = await git.text(
        [...at, 'log', '-z', `--max-count=${limit}`, `--format=${format}`, ...range, '--'],
        slow,
      )
      return commitsOf(text).reverse()
    },
    language: async (sha) => {
      const result = await git.run([...at, 'ls-tree', '-r', '-l', '-z', '--full-tree', sha], {
        ...slow,
        maxBytes: 32 * 1024 * 1024,
      })
      if (result.code !== 0 || result.truncated) return null
      return mainLanguage(result.stdout.toString('utf8'))
    },
  }
}

/** The functions of `Bare` that compare and merge trees. */
function diffCalls(
  git: Git,
  at: readonly string[],
): Pick<Bare, 'diffSize' | 'diff' | 'changes' | 'mergeTree' | 'commitTree'> {
  const diffBase = async (base: string, head: string) => (await mergeBase(git, at, base, head)) ?? base
  return {
    diffSize: async (base, head) => {
      const from = await diffBase(base, head)
      const text = await git.text([...at, 'diff', ...diffFlags, '--shortstat', from, head, '--'], slow)
      const figure = (word: RegExp) => Number(word.exec(text)?.[1] ?? 0)
      return {
        files: figure(/(\d+) files? changed/),
        additions: figure(/(\d+) insertion/),
        deletions: figure(/(\d+) deletion/),
      }
    },
    diff: async (base, head, maxBytes) => {
      const from = await diffBase(base, head)
      const result = await git.run([...at, 'diff', ...diffFlags, from, head, '--'], { ...slow, maxBytes })
      if (result.code !== 0) throw new GitFault(`git diff failed: ${result.stderr.trim()}`)
      return { text: result.stdout.toString('utf8'), truncated: result.truncated }
    },
    changes: async (from, to, path) => {
      const flags = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-renames', '--unified=0']
      const result = await git.run([...at, 'diff', ...flags, from, to, '--', `:(literal)${path}`], slow)
      return result.code === 0 && !result.truncated ? result.stdout.toString('utf8') : undefined
    },
    mergeTree: async (base, head) => {
      const result = await git.run(
        [...at, 'merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', base, head],
        slow,
      )
      const [tree = '', ...names] = result.stdout.toString('utf8').split('\0').filter(Boolean)
      // Only a list of conflicts can be so long that it is cut.
      if (result.code === 1 || result.truncated) return { kind: 'conflict', conflicts: [...new Set(names)] }
      if (result.code === 0) return { kind: 'clean', tree }
      if (/unrelated histories/.test(result.stderr)) return { kind: 'conflict', conflicts: [] }
      throw new GitFault(`git merge-tree failed (it needs git 2.38 or later): ${result.stderr.trim()}`)
    },
    commitTree: async ({ tree, parents, message, by, at: moment }) => {
      const date = `${Math.floor(moment.getTime() / 1000)} +0000`
      return git.text(
        [...at, 'commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'],
        {
          input: message,
          env: {
            GIT_AUTHOR_NAME: by.name,
            GIT_AUTHOR_EMAIL: by.email,
            GIT_AUTHOR_DATE: date,
            GIT_COMMITTER_NAME: by.name,
            GIT_COMMITTER_EMAIL: by.email,
            GIT_COMMITTER_DATE: date,
          },
        },
      )
    },
  }
}

async function mergeBase(git: Git, at: readonly string[], one: string, other: string) {
  const result = await git.run([...at, 'merge-base', one, other], slow)
  if (result.code > 1) throw new GitFault(`git merge-base failed: ${result.stderr.trim()}`)
  return result.stdout.toString('utf8').trim() || undefined
}

function commitsOf(log: string): Commit[] {
  // With `-z`, git ends each entry with a NUL, in addition to the NUL after the message.
  const fields = log.split('\0')
  const found: Commit[] = []
  for (let start = 0; start + 10 < fields.length; start += 11) {
    const [
      sha = '',
      tree = '',
      parents = '',
      an = '',
      ae = '',
      ad = '',
      cn = '',
      ce = '',
      cd = '',
      body = '',
    ] = fields.slice(start, start + 11)
    found.push({
      sha,
      tree,
      parents: parents.split(' ').filter(Boolean),
      author: { name: an, email: ae, date: ad },
      committer: { name: cn, email: ce, date: cd },
      message: body.replace(/\n+$/, ''),
    })
  }
  return found
}

const escapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '"': '"',
  '\\': '\\',
}

/** Undoes git's quoting of names that contain quotation marks, backslashes or control characters. */
export function unquoted(name: string): string {
  if (!/^".*"$/s.test(name)) return name
  return name.slice(1, -1).replaceAll(/\\([0-7]{3}|.)/gs, (_, code: string) => {
    return escapes[code] ?? String.fromCodePoint(Number.parseInt(code, 8) & 127)
  })
}
