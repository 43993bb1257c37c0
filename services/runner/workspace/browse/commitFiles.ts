/** The files of a commit, read from a git directory that no agent can write to. */
import { splitNul } from '../changes/indexDifferences.ts'
import { endedWell, GitFault, gitOrThrow, type Git, type GitCall } from '../git/git.ts'
import {
  folderOf,
  longestTarget,
  mostPaths,
  type AtPath,
  type Described,
  type FileSource,
} from './fileSource.ts'

const maxListedBytes = 64 * 1024 * 1024
const gitTimeoutMs = 8_000

export function commitFiles(git: Git, gitDir: string, commit: string): FileSource {
  const list = async (args: readonly string[]) => {
    const call = { gitDir, timeoutMs: gitTimeoutMs, maxOutputBytes: maxListedBytes }
    return splitNul((await gitOrThrow(git, { ...call, args: ['ls-tree', '-z', ...args] })).stdout).whole
  }
  const entriesOf = async (args: readonly string[]) => (await list(['-l', ...args])).flatMap(entryIn)
  const folder = async (tree: string) => folderOf(await entriesOf([tree]), (entry) => describedAs(entry))
  return {
    async at(path, mostBytes): Promise<AtPath> {
      if (path === '') return folder(commit)
      const [entry] = await entriesOf(['--full-tree', commit, '--', path])
      if (!entry) return { kind: 'missing' }
      if (entry.isFolder) return folder(entry.id)
      const { kind, size } = describedAs(entry)
      if (kind === 'repository') return { kind }
      const start = await startOf(git, gitDir, entry.id, kind === 'link' ? longestTarget : mostBytes)
      return kind === 'link'
        ? { kind, target: start.toString('utf8') }
        : { kind: 'file', size: size ?? start.length, start }
    },
    paths: () => pathsOf(git, gitDir, commit),
    has: async () => true,
  }
}

/** The paths of all files of a commit, in git's order and up to about `mostPaths`. */
async function pathsOf(git: Git, gitDir: string, commit: string): Promise<readonly string[]> {
  const found: string[] = []
  let rest: Buffer = Buffer.alloc(0)
  const call: GitCall = {
    gitDir,
    timeoutMs: gitTimeoutMs,
    args: ['ls-tree', '-z', '-r', '--name-only', '--full-tree', commit],
    onStdout(chunk) {
      const paths = splitNul(Buffer.concat([rest, chunk]))
      rest = paths.rest
      for (const path of paths.whole) found.push(path.toString('utf8'))
      return found.length < mostPaths ? 'more' : 'enough'
    },
  }
  const finished = await git(call)
  if (finished.endedBy !== 'reader' && !endedWell(finished)) throw new GitFault(call, finished)
  return found
}

interface Entry {
  readonly mode: string
  readonly id: string
  readonly size: number | null
  readonly name: Buffer
  readonly isFolder: boolean
}

/** Reads a line of `ls-tree -l`: mode, kind, object name, and size or `-`, then a tab and the name. */
function entryIn(line: Buffer): readonly Entry[] {
  const tab = line.indexOf('\t')
  const [mode = '', kind, id, size] = line.toString('latin1', 0, tab).split(/ +/)
  if (tab === -1 || id === undefined) return []
  const bytes = size === undefined || size === '-' ? null : Number(size)
  return [{ mode, id, size: bytes, name: line.subarray(tab + 1), isFolder: kind === 'tree' }]
}

function describedAs({ mode, size, isFolder }: Entry): Described {
  if (isFolder) return { kind: 'folder', size: null, target: null }
  if (mode === '160000') return { kind: 'repository', size: null, target: null }
  return mode === '120000' ? { kind: 'link', size: null, target: null } : { kind: 'file', size, target: null }
}

async function startOf(git: Git, gitDir: string, id: string, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  const call: GitCall = {
    gitDir,
    timeoutMs: gitTimeoutMs,
    args: ['cat-file', 'blob', id],
    onStdout(chunk) {
      chunks.push(chunk)
      length += chunk.length
      return length < mostBytes ? 'more' : 'enough'
    },
  }
  const finished = await git(call)
  if (finished.endedBy !== 'reader' && !endedWell(finished)) throw new GitFault(call, finished)
  return Buffer.concat(chunks).subarray(0, mostBytes)
}
