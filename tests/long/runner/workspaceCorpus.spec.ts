import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { restoreWork, saveWork } from '../../../services/runner/workspace/saved/bundle.ts'
import { readChanges } from '../../../services/runner/workspace/changes/changes.ts'
import type { Changes } from '../../../services/runner/workspace/changes/changes.ts'
import { openMirrors } from '../../../services/runner/workspace/git/mirror.ts'
import { commitAndPush } from '../../../services/runner/workspace/publish/publish.ts'
import { awkwardRepositories, plainGit, treeAt } from '../../runner/corpus.ts'
import type { AwkwardRepository, Tree } from '../../runner/corpus.ts'
import { testGit, testPath, testTaskId, unexpected } from '../../runner/workspaceScene.ts'
import { createOrFindWorkspace } from '../../../services/runner/workspace/createWorkspace.ts'
import type { Workspace } from '../../../services/runner/workspace/workspace.ts'

/** What is compared of a file; the patches of all files are compared as one text. */
interface Told {
  readonly fileName: string
  readonly previousName: string | undefined
  readonly status: string
  readonly additions: number
  readonly deletions: number
  readonly binary: boolean
}

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'flightdeck-corpus-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('an awkward repository is told of as plain git tells of it, and its work goes on elsewhere:', () => {
  test.each(awkwardRepositories.map((repository) => [repository.name, repository] as const))(
    '%s',
    async (name, repository) => {
      const done = await workTwice(join(root, name.replaceAll(' ', '-')), repository)
      const otherwise = repository.toldOtherwise ?? {}
      expect(told(done.ours, otherwise)).toEqual(plainly(done.trusted, Object.keys(otherwise)))
      const words = (of: string) =>
        done.ours.files.find(({ fileName }) => bare(fileName) === of)?.diff ?? 'none'
      expect(Object.entries(otherwise).filter(([of, beginning]) => !beginning.test(words(of)))).toEqual([])
      await expectToGoOnElsewhere(done)
    },
  )
})

/** What we tell, but for the files of which we tell otherwise. */
function told({ files, ahead, behind, truncated }: ReadChanges, otherwise: object) {
  const own = files.filter(({ fileName }) => !(bare(fileName) in otherwise))
  return {
    files: own.map(({ fileName, previousName, status, additions, deletions, binary }): Told => {
      return { fileName, previousName, status, additions, deletions, binary }
    }),
    patch: own.map(({ diff }) => diff).join(''),
    distance: { ahead, behind },
    truncated,
  }
}

/** A folder's name without its slash. */
const bare = (path: string): string => path.replace(/\/$/, '')

async function expectToGoOnElsewhere({ ours, trusted, workspace, prepareAnother }: Done): Promise<void> {
  const saved = await saveWork({ git: testGit, treeGit: testGit, workspace })
  if (saved.kind !== 'saved') throw new Error(saved.kind)
  const { bundle, leftOut } = saved
  const other = await prepareAnother()
  const restored = await restoreWork({ git: testGit, path: testPath, workspace: other, bundle })
  expect(restored).toEqual({ kind: 'restored', head: ours.head, leftOut })

  const before = entriesOf(workspace.dir)
  const after = entriesOf(other.dir)
  expect([...after].filter(([path, entry]) => before.get(path) !== entry)).toEqual([])
  const mayBeLost = [...leftOut.map(bare), ...ignoredIn(trusted)]
  const isBelow = (path: string) => mayBeLost.some((own) => path === own || path.startsWith(`${own}/`))
  expect([...before.keys()].filter((path) => !after.has(path) && !isBelow(path))).toEqual([])

  const there = await changesOf(other)
  const isKept = ({ fileName }: { readonly fileName: string }) => !leftOut.includes(fileName)
  // What is left out counts only where it is.
  const kept = (changes: ReadChanges) => ({ ...changes, files: changes.files.filter(isKept), total: 0 })
  expect(kept(there)).toEqual(kept(ours))
}

async function changesOf(workspace: Workspace): Promise<ReadChanges> {
  const read = await readChanges({ git: testGit, treeGit: testGit, workspace, baseBranch: 'main' })
  if (read.kind !== 'changes') throw new Error(read.kind)
  const from = 'tree'
  const staged = await readChanges({ git: testGit, treeGit: testGit, workspace, baseBranch: 'main', from })
  expect({ ...staged, tree: null }, 'the diff of the tree that would be committed').toEqual(read)
  return read
}

type ReadChanges = Extract<Changes, { kind: 'changes' }>

interface Done {
  readonly ours: ReadChanges
  readonly trusted: Tree
  readonly workspace: Workspace
  /** A workspace of the same repository, as a runner makes it that never saw the task. */
  readonly prepareAnother: () => Promise<Workspace>
}

/** Does the work of a case in a workspace of ours and in a plain clone. */
async function workTwice(
  folder: string,
  { base, meanwhile, work, afterCommit }: AwkwardRepository,
): Promise<Done> {
  const host = treeAt(join(folder, 'host'))
  mkdirSync(host.dir, { recursive: true })
  host.git('init', '-q', '-b', 'main')
  if (base) {
    base(host)
    // A submodule that is not checked out would be taken out again.
    if (!host.git('ls-files', '-s').includes('160000')) host.commit()
  }
  plainGit(folder, ['clone', '-q', 'host', 'trusted'])
  const trusted = treeAt(join(folder, 'trusted'))

  const url = join(host.dir, '.git')
  const mirrors = openMirrors({ root: folder, git: testGit, onFault: unexpected })
  const refresh = async () => {
    const refreshed = await mirrors.refresh({ url, owner: 'ada', name: 'sample', id: '7', timeoutMs: 30_000 })
    if (refreshed.kind !== 'ready') throw new Error(JSON.stringify(refreshed))
    return refreshed.mirror
  }
  const prepare = async (taskId: string): Promise<Workspace> => {
    const prepared = await createOrFindWorkspace({
      checkCheckout: async () => undefined,
      git: testGit,
      path: testPath,
      root: folder,
      taskId,
      mirror: await refresh(),
      baseBranch: 'main',
      workingBranch: 'flightdeck/a-task-12345678',
      originUrl: 'http://localhost/ada/sample.git',
      identity: { name: 'claude', email: 'noreply@anthropic.com' },
      owner: undefined,
    })
    if (prepared.kind !== 'ready') throw new Error(prepared.kind)
    return prepared.workspace
  }
  const workspace = await prepare(testTaskId)
  if (meanwhile) {
    meanwhile(host)
    await refresh()
    trusted.git('fetch', '-q')
  }
  const own = treeAt(workspace.dir)
  work?.(own)
  work?.(trusted)
  if (afterCommit) {
    const published = await commitAndPush({
      git: testGit,
      treeGit: testGit,
      workspace,
      message: 'Work',
      author: { name: 'Ada', email: 'ada@example.com' },
      secrets: [],
      url,
    })
    if (published.kind !== 'published') throw new Error(published.kind)
    trusted.commit()
    afterCommit(own)
    afterCommit(trusted)
  }
  return {
    ours: await changesOf(workspace),
    trusted,
    workspace,
    prepareAnother: () => prepare('another-runner'),
  }
}

/** All files and links below a folder but those of its git directory: mode, and content or target. Names are bytes, as latin1. */
function entriesOf(dir: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const walk = (below: string): void => {
    for (const name of readdirSync(Buffer.from(join(dir, below), 'latin1'), { encoding: 'buffer' })) {
      const path = below === '' ? name.toString('latin1') : `${below}/${name.toString('latin1')}`
      if (path === '.git') continue
      const at = Buffer.from(join(dir, path), 'latin1')
      const entry = lstatSync(at)
      if (entry.isDirectory()) walk(path)
      else if (entry.isSymbolicLink()) found.set(path, `link ${readlinkSync(at)}`)
      else if (entry.isFile())
        found.set(path, `${entry.mode & 0o100 ? 'run' : 'file'} ${sha256Of(readFileSync(at))}`)
    }
  }
  walk('')
  return found
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function ignoredIn(trusted: Tree): readonly string[] {
  const listed = trusted.git('ls-files', '-z', '--others', '--ignored', '--exclude-standard')
  return listed.split('\0').slice(0, -1)
}

/** What git says in a clone that is trusted: `status` of what is new, `diff` of the rest. */
function plainly(trusted: Tree, leftOut: readonly string[]) {
  const git = (...args: string[]): Buffer => plainGit(trusted.dir, args)
  const untracked = new Set(
    fields(git('status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'))
      .filter((field) => field.startsWith('?? '))
      .map((field) => field.slice(3)),
  )
  const hasBase = git('branch', '-r', '--list', 'origin/main').length > 0
  const emptyTree = git('hash-object', '-t', 'tree', '/dev/null').toString().trim()
  const against = hasBase
    ? git('merge-base', 'refs/remotes/origin/main', 'HEAD').toString().trim()
    : emptyTree
  const outside = leftOut.map((path) => `:(top,exclude,literal)${path}`)
  git('add', '-A', '--', '.', ...outside)
  const diff = (...args: string[]): Buffer =>
    git('diff', '--cached', '--find-renames', '--full-index', ...args, against, '--', '.', ...outside)

  const counts = new Map<string, Pick<Told, 'additions' | 'deletions' | 'binary'>>()
  const numbers = fields(diff('--numstat', '-z'))
  for (let at = 0; at < numbers.length; at++) {
    const [, plus = '', minus = '', path = ''] = /^(\S+)\t(\S+)\t([^]*)$/.exec(numbers[at] ?? '') ?? []
    const count = { additions: Number(plus) || 0, deletions: Number(minus) || 0, binary: plus === '-' }
    if (path === '') at += 2
    counts.set(path || (numbers[at] ?? ''), count)
  }

  const files: Told[] = []
  const names = fields(diff('--name-status', '-z'))
  for (let at = 0; at < names.length; at += 2) {
    const letter = names[at]?.charAt(0) ?? ''
    const previousName = letter === 'R' ? names[at + 1] : undefined
    if (previousName !== undefined) at += 1
    const fileName = names[at + 1] ?? ''
    const isNew = letter === 'A'
    const status = isNew
      ? untracked.has(fileName)
        ? 'untracked'
        : 'added'
      : (statuses[letter] ?? 'modified')
    const count = counts.get(fileName) ?? { additions: -1, deletions: -1, binary: false }
    files.push({ fileName, previousName, status, ...count })
  }
  const [behind = 0, ahead = 0] = hasBase
    ? git('rev-list', '--left-right', '--count', 'refs/remotes/origin/main...HEAD')
        .toString()
        .split('\t')
        .map(Number)
    : []
  return { files, patch: diff().toString('utf8'), distance: { ahead, behind }, truncated: false }
}

const statuses: Readonly<Record<string, string>> = { D: 'deleted', R: 'renamed' }

function fields(bytes: Buffer): string[] {
  return bytes.toString('utf8').split('\0').slice(0, -1)
}
