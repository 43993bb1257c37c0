/** What the agent's own git keeps beside the files of the tree: stashes, and branches that it is not on. Git is never run on that repository. */
import { lstat, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { readPlain } from '../agentFiles.ts'
import { commitOf, gitText, type Git } from '../git/git.ts'
import { unlessMissing } from '../missing.ts'
import type { Workspace } from '../workspace.ts'

/** A repository with 100,000 refs has a smaller one. */
const largestRefs = 16 * 1024 * 1024
const largestRef = 4_096
/** Whoever has more has work there. */
const mostBranches = 1_000

/**
 * Whether the agent's git has a stash, or a branch that leads elsewhere than to its files and what the code host had: no snapshot holds those.
 * What cannot be read as git writes it counts as such. So does a branch on the way to the one it is on, as those commits are its own.
 * Nothing may run in the workspace. Throws `GitFault`.
 */
export async function hasWorkAside(
  git: Git,
  { dir, privateGitDir: gitDir }: Pick<Workspace, 'dir' | 'privateGitDir'>,
): Promise<boolean> {
  const root = await realpath(dir)
  const read = await refsIn(root)
  if (read === undefined) return true
  const { refs, head } = read
  if (refs.has('refs/stash')) return true
  const branches = [...refs].filter(([name]) => name.startsWith('refs/heads/'))
  const itsCommit = refs.get(head) ?? head
  const elsewhere = new Set(branches.map(([, commit]) => commit).filter((commit) => commit !== itsCommit))
  for (const commit of elsewhere) {
    if ((await commitOf(git, gitDir, commit)) === null) return true
    const args = ['rev-list', '--max-count=1', commit, '--not', 'HEAD', '--remotes', '--']
    if ((await gitText(git, { gitDir, args })) !== '') return true
  }
  return false
}

interface AgentRefs {
  /** Commits by the full names of their refs. */
  readonly refs: ReadonlyMap<string, string>
  /** The ref that it is on, or the commit. */
  readonly head: string
}

/** By gitrepository-layout(5); none where there is no repository, and `undefined` where it is another than git has made there. */
async function refsIn(root: string): Promise<AgentRefs | undefined> {
  const git = await lstat(join(root, '.git')).catch(unlessMissing)
  if (!git) return { refs: new Map(), head: '' }
  const head = await plainText(root, '.git/HEAD', largestRef)
  const packed = await plainText(root, '.git/packed-refs', largestRefs)
  const names = await namesBelow(root, '.git/refs/heads')
  if (!git.isDirectory() || head === undefined || packed === undefined || names === undefined)
    return undefined
  const refs = new Map(
    [...packed.matchAll(/^([0-9a-f]{40}) (refs\/\S.*)$/gm)].map(([, id = '', ref = '']) => [ref, id]),
  )
  for (const name of [...names, '.git/refs/stash']) {
    const written = await plainText(root, name, largestRef)
    if (written === '') continue
    const [, commit] = /^([0-9a-f]{40})\n$/.exec(written ?? '') ?? []
    if (commit === undefined) return undefined
    refs.set(name.slice('.git/'.length), commit)
  }
  return { refs, head: head.replace(/^ref: /, '').trimEnd() }
}

/** Empty where there is no such file; `undefined` where it is no plain one. */
async function plainText(root: string, path: string, mostBytes: number): Promise<string | undefined> {
  if (!(await lstat(join(root, path)).catch(unlessMissing))) return ''
  return (await readPlain(root, path, mostBytes))?.toString('utf8')
}

/** The paths of everything below a folder that is no folder; `undefined` where they are too many, or it is none. */
async function namesBelow(root: string, folder: string): Promise<readonly string[] | undefined> {
  const found: string[] = []
  const folders = [folder]
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    if (found.length + folders.length > mostBranches) return undefined
    const there = await lstat(join(root, at)).catch(unlessMissing)
    if (!there) continue
    if (!there.isDirectory()) return undefined
    for (const entry of await readdir(join(root, at), { withFileTypes: true }))
      (entry.isDirectory() ? folders : found).push(`${at}/${entry.name}`)
  }
  return found
}
