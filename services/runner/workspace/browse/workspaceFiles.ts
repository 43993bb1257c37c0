/**
 * The files of a workspace in which an agent may be writing. Git, in a sandbox, says which files there are: tracked ones, and new ones that are not
 * ignored. Only plain files are read, and nothing is read through a link.
 */
import { lstat, readlink, realpath } from 'node:fs/promises'
import { withFolder, readPlainStart } from '../agentFiles.ts'
import { kindAt, splitNul } from '../changes/indexDifferences.ts'
import { endedWell, GitFault, type Git, type GitCall } from '../git/git.ts'
import type { Workspace } from '../workspace.ts'
import {
  folderOf,
  mostPaths,
  type AtPath,
  type ListedEntry,
  type Described,
  type FileSource,
} from './fileSource.ts'

const gitTimeoutMs = 8_000

export function workspaceFiles(treeGit: Git, workspace: Workspace): FileSource {
  return {
    at: (path, mostBytes) => atPath(treeGit, workspace, path, mostBytes),
    async paths() {
      const found: string[] = []
      await listBelow(treeGit, workspace, '', (path) => found.push(path.toString('utf8')))
      return [...new Set(found)]
    },
    async has(path) {
      const { kind } = await kindAt(workspace, Buffer.from(path))
      return kind === 'file' || kind === 'link'
    },
  }
}

/**
 * A child of a path, as git lists it. A child may be both a file and a folder here, when a folder has replaced a file of the same name, or the other
 * way round.
 */
interface EntryInGit extends ListedEntry {
  readonly isLeaf: boolean
}

async function atPath(git: Git, workspace: Workspace, path: string, mostBytes: number): Promise<AtPath> {
  const prefix = Buffer.from(path === '' ? '' : `${path}/`)
  const children = new Map<string, EntryInGit>()
  let isLeaf = false
  await listBelow(git, workspace, path, (listed) => {
    const rest = listed.subarray(prefix.length)
    // git lists a nested repository with a slash at the end.
    const slash = rest.indexOf('/')
    const isFolder = slash !== -1 && slash < rest.length - 1
    if (rest.length === 0) {
      isLeaf = true
      return
    }
    const name = Buffer.from(slash === -1 ? rest : rest.subarray(0, slash))
    const before = children.get(name.toString('latin1'))
    children.set(name.toString('latin1'), {
      name,
      isFolder: isFolder || before?.isFolder === true,
      isLeaf: !isFolder || before?.isLeaf === true,
    })
  })
  const root = await realpath(workspace.dir)
  if (path === '' || children.size > 0) {
    const folder = await withFolder(root, path, (placeOf) =>
      folderOf([...children.values()], async (child) => entryOf(await describe(placeOf(child.name)), child)),
    )
    if (folder) return folder
  }
  if (!isLeaf && children.size === 0) return { kind: 'missing' }
  const leaf = await leafAt(root, path, mostBytes)
  // git still lists the files of a folder that was replaced by a link.
  return isLeaf || leaf.kind === 'link' ? leaf : { kind: 'missing' }
}

/** Calls back with the paths that git lists at or below a path: up to about `mostPaths` tracked ones, and as many new ones. */
async function listBelow(
  git: Git,
  { privateGitDir: gitDir, dir: workTree }: Workspace,
  path: string,
  onPath: (path: Buffer) => void,
): Promise<void> {
  for (const which of [['--cached'], ['--others', '--exclude-standard']]) {
    let rest: Buffer = Buffer.alloc(0)
    let count = 0
    const call: GitCall = {
      gitDir,
      workTree,
      timeoutMs: gitTimeoutMs,
      args: ['-C', workTree, 'ls-files', '-z', ...which, '--', ...(path === '' ? [] : [path])],
      onStdout(chunk) {
        const paths = splitNul(Buffer.concat([rest, chunk]))
        rest = paths.rest
        for (const each of paths.whole) onPath(each)
        count += paths.whole.length
        return count < mostPaths ? 'more' : 'enough'
      },
    }
    const finished = await git(call)
    if (finished.endedBy !== 'reader' && !endedWell(finished)) throw new GitFault(call, finished)
  }
}

/** Describes the file, folder or link at a place on the disk; a link is not followed. */
async function describe(place: Buffer): Promise<Described | undefined> {
  const found = await lstat(place).catch(() => undefined)
  if (!found) return undefined
  if (found.isFile()) return { kind: 'file', size: found.size, target: null }
  if (found.isDirectory()) return { kind: 'folder', size: null, target: null }
  if (!found.isSymbolicLink()) return { kind: 'other', size: null, target: null }
  return { kind: 'link', size: null, target: await readlink(place, 'utf8').catch(() => '') }
}

function entryOf(described: Described | undefined, { isFolder, isLeaf }: EntryInGit): Described | undefined {
  if (described?.kind !== 'folder')
    return isLeaf ? described : described?.kind === 'link' ? described : undefined
  return isFolder ? described : { ...described, kind: 'repository' }
}

async function leafAt(root: string, path: string, mostBytes: number): Promise<AtPath> {
  const slash = path.lastIndexOf('/')
  const name = Buffer.from(path.slice(slash + 1))
  const found = await withFolder(root, path.slice(0, Math.max(0, slash)), (placeOf) =>
    describe(placeOf(name)),
  )
  switch (found?.kind) {
    case undefined:
      return { kind: 'missing' }
    case 'folder':
      return { kind: 'repository' }
    case 'link':
      return { kind: 'link', target: found.target ?? '' }
    case 'file': {
      const read = await readPlainStart(root, path, mostBytes)
      return read ? { kind: 'file', ...read } : { kind: 'other' }
    }
    case 'repository':
    case 'other':
      return { kind: 'other' }
  }
}
