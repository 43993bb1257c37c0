import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import Ajv2020 from 'ajv/dist/2020.js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agentTraceRef, traceRecordOf, TraceRecord } from '#domain/provenance/agentTrace.ts'
import type { OriginTurn } from '#domain/provenance/lineOrigins.ts'
import { startGitServer, type TestGitServer } from '../../../../tests/runner/gitServer.ts'
import {
  makeScene,
  testGit,
  testPath,
  testTaskId,
  writeIn,
  type Scene,
} from '../../../../tests/runner/workspaceScene.ts'
import { gitOrThrow, gitText } from '../git/git.ts'
import { saveWork } from '../saved/bundle.ts'
import { linesAddedBy, type AddedLimits, type TurnSnapshot } from '../saved/provenance.ts'
import type { Workspace } from '../workspace.ts'
import { addNote, fetchNotes, hasNote, pushNotes, type NotesRequest } from './gitNotes.ts'
import { commitAndPush } from './publish.ts'
import { isLongRun } from '../../../../tests/longRun.ts'

const published = JSON.parse(
  await readFile(new URL('../../../../tests/data/agentTrace/trace-record.json', import.meta.url), 'utf8'),
)
const isTraceRecord = new Ajv2020({
  allErrors: true,
  formats: {
    uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    uri: { type: 'string', validate: (text: string) => URL.canParse(text) },
    'date-time': { type: 'string', validate: (text: string) => new Date(text).toISOString() === text },
  },
}).compile(published)

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const base = 'base one\nbase two\nbase three\n'
const page = `https://flightdeck.example/tasks/${testTaskId}`
const head = { id: '0199c6c2-2222-7000-8000-000000000001', at: '2026-11-25T20:00:00.000Z' }

/** Names that break formats which are read line by line, by tabs or by quotes. */
const hostile = [
  'new\nline.txt',
  'tab\there.txt',
  'say "hi".txt',
  '---',
  '  s_0 1-2',
  'ünï.txt',
  '-x',
  '\u2028.txt',
]

let scene: Scene
let server: TestGitServer
let workspace: Workspace
let turns: TurnSnapshot[] = []
beforeEach(async () => {
  scene = await makeScene({ 'a.txt': base, 'old name.txt': base, 'picture.bin': new Uint8Array([0, 1, 2]) })
  server = await startGitServer(scene.root)
  workspace = await scene.prepare()
  turns = []
})
afterEach(async () => {
  await server.stop()
  await scene.remove()
})

async function turn(name: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) await writeIn(workspace.dir, path, content)
  await snapshot(name)
}

async function snapshot(name: string): Promise<void> {
  const keepAs = `refs/flightdeck/turns/${name}`
  const saved = await saveWork({ git: testGit, treeGit: testGit, workspace, keepAs })
  if (saved.kind === 'too_large') throw new Error(saved.message)
  turns.push({ turn: name, work: saved.work })
}

const request = (): NotesRequest => ({ git: testGit, workspace, url: `${server.url}/remote.git` })

async function push(): Promise<string> {
  const result = await commitAndPush({
    ...request(),
    treeGit: testGit,
    message: 'Work',
    author: { name: 'Grace Hopper', email: 'grace@example.com' },
    secrets: [],
    applyPatch: async (patch) => {
      execFileSync('git', ['apply', '-'], {
        cwd: workspace.dir,
        input: patch,
        env: { PATH: testPath, GIT_DIR: '/nonexistent' },
      })
      return null
    },
  })
  if (result.kind !== 'published') throw new Error(JSON.stringify(result))
  return result.headSha
}

function added(commit: string, limits?: AddedLimits) {
  const { privateGitDir, startCommit } = workspace
  return linesAddedBy({ git: testGit, privateGitDir, startCommit, turns }, commit, limits)
}

/** As `path: from-to turn`. */
async function told(commit: string): Promise<readonly string[]> {
  const { files } = await added(commit)
  return files.flatMap(({ path, lines }) =>
    lines.map(({ from, to, executionId }) => `${path}: ${from}-${to} ${executionId ?? 'unknown'}`),
  )
}

function turnNamed(executionId: string, kind: OriginTurn['kind'] = 'turn'): readonly [string, OriginTurn] {
  const known = { taskId: testTaskId, executionId, kind, agent: 'claude', model: 'claude-opus-5' } as const
  const urls = {
    taskUrl: page,
    url: `${page}/history?at=12`,
    proofUrl: 'https://flightdeck.example/api/audit',
  }
  return [executionId, { ...known, provider: 'anthropic', ...urls }]
}

async function writeNote(commit: string): Promise<TraceRecord> {
  const origins = {
    ...(await added(commit)),
    commit,
    turns: new Map([turnNamed('first'), turnNamed('second')]),
  }
  const trace = traceRecordOf(origins, head)
  await addNote(request(), { commit, text: JSON.stringify(trace) })
  return trace
}

const atHost = (...args: string[]) => gitText(testGit, { gitDir: scene.remote, args })
const noteAtHost = (ref: string, commit: string) => atHost('notes', `--ref=${ref}`, 'show', commit)

describe('the lines that a commit added', () => {
  test('are those of the turns, and lines that nobody saw being written are unknown', async () => {
    await turn('first', { 'a.txt': 'base one\nfirst\nbase two\nbase three\n' })
    await turn('second', { 'a.txt': 'base one\nfirst\nsecond\nbase three\n', 'b.txt': 'b\n' })
    await writeIn(workspace.dir, 'a.txt', 'base one\nfirst\nsecond\nbase three\nafter the turns\n')
    expect(await told(await push())).toEqual([
      'a.txt: 2-2 first',
      'a.txt: 3-3 second',
      'a.txt: 5-5 unknown',
      'b.txt: 1-1 second',
    ])
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('are not those of an earlier commit, nor those that a person pushed in between', async () => {
      await turn('first', { 'a.txt': `first\n${base}` })
      const one = await push()
      await scene.commit(
        { 'a.txt': `first\n${base}by a person\n`, 'p.txt': 'by a person\n' },
        workspace.branch,
      )
      await turn('second', { 'b.txt': 'second\n', 'a.txt': `first\nsecond\n${base}` })
      const two = await push()
      expect(await told(one)).toEqual(['a.txt: 1-1 first'])
      expect(await told(two)).toEqual(['a.txt: 2-2 second', 'b.txt: 1-1 second'])
      // What was applied from the person's commit is in the files of the next turn, and still is not that turn's.
      await turn('third', { 'c.txt': 'third\n', 'b.txt': 'second\nthird\n' })
      expect(await told(await push())).toEqual(['b.txt: 2-2 third', 'c.txt: 1-1 third'])
    })

    test('are told of renamed files by the new name, and not of binary files, deleted lines and deleted files', async () => {
      await rm(join(workspace.dir, 'old name.txt'))
      await turn('first', {
        'new name.txt': `${base}more\n`,
        'a.txt': 'base one\nbase three\n',
        'picture.bin': new Uint8Array([0, 1, 2, 3, 10, 4]),
        'empty.txt': '',
      })
      expect(await told(await push())).toEqual(['new name.txt: 4-4 first'])
    })
  })

  test('are told of files with hostile names', async () => {
    await turn('first', Object.fromEntries(hostile.map((name) => [name, 'x\n'])))
    const names = (await added(await push())).files.map(({ path }) => path)
    expect(names.toSorted()).toEqual(hostile.toSorted())
  })

  test('are bounded, and what is left out is counted', async () => {
    await turn('first', { 'b.txt': 'b\n', 'c.txt': 'c\n', 'd.txt': 'd\n' })
    const commit = await push()
    const limits = { files: 10, ranges: 10, timeoutMs: 60_000 }
    expect(await added(commit, { ...limits, files: 2 })).toMatchObject({ leftOut: 1, files: [{}, {}] })
    expect(await added(commit, { ...limits, ranges: 1 })).toMatchObject({ leftOut: 2, files: [{}] })
    expect(await added(commit, { ...limits, timeoutMs: -1 })).toEqual({ leftOut: 3, files: [] })
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('are unknown in a task without snapshots', async () => {
      await writeIn(workspace.dir, 'b.txt', 'b\n')
      expect(await told(await push())).toEqual(['b.txt: 1-1 unknown'])
    })
  })
})

describe('the notes of a commit', () => {
  test('are records by the published schema of Agent Trace, and logs by the Git AI Standard', async () => {
    await turn('first', {
      'a.txt': `${base}first\n`,
      'sp ace.txt': 'x\n',
      '---': 'x\n',
      'say "hi".txt': 'x\n',
      'l\n---\n{}': 'x\n',
    })
    await turn('second', { 'a.txt': `${base}first\nsecond\n` })
    await writeIn(workspace.dir, 'z.txt', 'z\n')
    const commit = await push()
    const trace = await writeNote(commit)
    expect(isTraceRecord(trace) ? [] : isTraceRecord.errors).toEqual([])
    expect(TraceRecord.parse(trace)).toEqual(trace)
    expect(trace.vcs).toEqual({ type: 'git', revision: commit })
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    expect(trace.tool).toEqual({ name: 'flightdeck', version })
    expect(trace.files.find(({ path }) => path === 'a.txt')?.conversations[1]).toEqual({
      url: `${page}/history?at=12`,
      contributor: { type: 'ai', model_id: 'anthropic/claude-opus-5' },
      ranges: [{ start_line: 5, end_line: 5, content_hash: `sha256:${sha256('second\n')}` }],
      related: [{ type: 'proof', url: 'https://flightdeck.example/api/audit' }],
    })
    expect(trace.files.find(({ path }) => path === 'z.txt')?.conversations[0]?.contributor).toEqual({
      type: 'unknown',
    })
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('say nothing of whose a command’s lines are', async () => {
      await turn('first', { 'b.txt': 'b\n' })
      const commit = await push()
      const origins = { ...(await added(commit)), commit, turns: new Map([turnNamed('first', 'command')]) }
      const trace = traceRecordOf(origins, head)
      expect(isTraceRecord(trace)).toBe(true)
      expect(trace.files[0]?.conversations[0]).toMatchObject({
        contributor: { type: 'unknown' },
        url: `${page}/history?at=12`,
      })
    })
  })

  test('come to the host as they are, beside notes of others, and are not pushed twice', async () => {
    const others = await atHost('rev-parse', 'main')
    await atHost(
      '-c',
      'user.name=O',
      '-c',
      'user.email=o@example.com',
      'notes',
      `--ref=${agentTraceRef}`,
      'add',
      '-m',
      'of another tool',
      others,
    )
    await turn('first', { 'b.txt': 'b\n' })
    const commit = await push()
    const trace = await writeNote(commit)
    // Not fetched before: the host is ahead.
    expect(await pushNotes(request())).toBeNull()
    expect(JSON.parse(await noteAtHost(agentTraceRef, commit))).toEqual(trace)
    expect(await noteAtHost(agentTraceRef, others)).toBe('of another tool')
    expect(await atHost('log', '-1', '--format=%an <%ae>', agentTraceRef)).toBe(
      'Flightdeck <noreply@localhost>',
    )
    const asked = server.authorizations.length
    expect(await pushNotes(request())).toBeNull()
    expect(server.authorizations).toHaveLength(asked)
  })

  test('are known again in a workspace that was made anew, and a note that is at the host stays', async () => {
    await turn('first', { 'b.txt': 'b\n' })
    const commit = await push()
    await writeNote(commit)
    await pushNotes(request())
    await gitOrThrow(testGit, {
      gitDir: workspace.privateGitDir,
      args: ['update-ref', '-d', agentTraceRef],
    })
    expect(await hasNote(request(), commit)).toBe(false)
    expect(await fetchNotes(request())).toBeNull()
    expect(await hasNote(request(), commit)).toBe(true)
    await atHost(
      '-c',
      'user.name=O',
      '-c',
      'user.email=o@example.com',
      'notes',
      `--ref=${agentTraceRef}`,
      'add',
      '-f',
      '-m',
      'amended',
      commit,
    )
    await addNote(request(), { commit, text: 'ours' })
    expect(await pushNotes(request())).toBeNull()
    expect(await noteAtHost(agentTraceRef, commit)).toBe('amended')
  })

  test('that a host refuses, or cannot be asked for, are told in a sentence and pushed the next time', async () => {
    await turn('first', { 'b.txt': 'b\n' })
    const commit = await push()
    await writeNote(commit)
    await atHost('config', 'receive.hideRefs', 'refs/notes')
    expect(await pushNotes(request())).toMatch(
      /^the code host did not take the notes: .*deny updating a hidden ref/,
    )
    await atHost('config', '--unset', 'receive.hideRefs')
    await server.stop()
    expect(await fetchNotes(request())).toMatch(/^the code host could not be asked for its notes: /)
    expect(await pushNotes(request())).toMatch(/^the code host did not take the notes: /)
    server = await startGitServer(scene.root)
    expect(await pushNotes(request())).toBeNull()
    expect(await hasNote(request(), commit)).toBe(true)
    expect(await noteAtHost(agentTraceRef, commit)).toContain('"0.1.0"')
  })
})
