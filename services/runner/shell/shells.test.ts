/** The open shells of a runner, in sandboxes whose programs the test ends. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { TerminalEvent } from '#domain/task/terminalEvents.ts'
import { projectsView } from '#domain/views/projects.ts'
import { logger } from '#platform/log.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { executionId, projectId, taskId, userId } from '../../../tests/domain/ids.ts'
import { redactionOf } from '../redaction/redaction.ts'
import type { Program, ProgramExit } from '../sandbox/program.ts'
import type { StoppableRun } from '../workspace/diskWatch.ts'
import { taskFolder } from '../workspace/workspace.ts'
import type { ShellDeps } from './shellDeps.ts'
import { openShells, type Shells } from './shells.ts'

const ada = userId(1)
const grace = userId(2)
const size = { rows: 24, columns: 80 }
let root: string
let owners: Map<string, string>
let programs: Program[]
let shells: Shells
let isSandboxMissing: boolean
let isPrepared: boolean
let isAgentToBegin: boolean
let repositoryAtHost: () => Promise<{ readonly id: string; readonly mayPush: boolean }>
let noSpace: string | undefined
let watched: Map<string, StoppableRun>
let printed: TerminalEvent[]
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flightdeck-shells-'))
  owners = new Map()
  programs = []
  isSandboxMissing = false
  isPrepared = true
  isAgentToBegin = false
  repositoryAtHost = async () => ({ id: '7', mayPush: true })
  noSpace = undefined
  watched = new Map()
  printed = []
  let opened = 0
  shells = openShells({
    root,
    isAlone: true,
    workspaces: { has: async () => true, read: async (id: string) => ({ taskId: id }) },
    mirrors: { find: async () => ({}) },
    documents: {
      get: async (view: unknown, id: string) =>
        view === projectsView
          ? { githubOwner: 'ada', githubRepoName: 'sample', githubRepoId: '7' }
          : { id, owner: owners.get(id), projectId: projectId(1), agent: 'claude' },
    },
    accessControl: { check: async () => undefined },
    access: { tokenOf: async () => 'token' },
    codeHost: {
      gitAccess: async () => ({ url: 'https://code.example/ada/sample.git', authorization: 'a' }),
      repository: () => repositoryAtHost(),
    },
    commands: {
      load: async () => ({ state: { kind: 'task', workspace: isPrepared ? 'ready' : 'preparing' } }),
      execute: async () => undefined,
    },
    egress: { agentHosts: {} },
    installed: { secrets: [] },
    modelKeys: { valuesOf: async () => [] },
    sandbox: { kind: 'none' },
    sandboxOfAgent: () =>
      isSandboxMissing
        ? undefined
        : {
            isToBegin: isAgentToBegin,
            exec: async () => programs[programs.push(endlessProgram()) - 1],
          },
    disk: {
      refusal: () => noSpace,
      watch: ({ taskId: id, stop }: { readonly taskId: string; readonly stop: StoppableRun }) => {
        watched.set(id, stop)
        return () => void watched.delete(id)
      },
    },
    locks: { holdIfFree: async () => undefined },
    ids: { uuid: () => executionId((opened += 1)) },
    allowances: {
      ofRun: () => ({ bytes: () => 1_000_000, spend: () => undefined, settled: async () => undefined }),
    },
    redaction: () =>
      redactionOf([], { run: () => Promise.reject(new Error('Unused.')), close: async () => undefined }),
    terminals: {
      append: async (_: string, event: TerminalEvent) => void printed.push(event),
      forget: () => undefined,
    },
    logger: logger('silent'),
  } as unknown as ShellDeps)
})
afterEach(async () => {
  await shells.close()
  await rm(root, { recursive: true })
})

function endlessProgram(): Program {
  const stdout = new PassThrough()
  let settle: (exit: ProgramExit) => void = () => undefined
  const exited = new Promise<ProgramExit>((resolve) => (settle = resolve))
  const kill = () => {
    stdout.end()
    settle({ code: null, reason: 'killed' })
  }
  return {
    stdin: new PassThrough(),
    stdout,
    stderr: new PassThrough(),
    exited,
    kill,
    resize: () => undefined,
  }
}

async function openOf(owner: string, n: number) {
  owners.set(taskId(n), owner)
  await mkdir(taskFolder(root, taskId(n)), { recursive: true })
  return shells.open({ taskId: taskId(n), size })
}
const first = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('a shell whose marker cannot be removed is gone when it has ended', async () => {
  expect(await openOf(ada, 1)).toMatchObject({ kind: 'opened' })
  const marker = join(taskFolder(root, taskId(1)), 'shell.json')
  await rm(marker)
  await mkdir(marker)
  await shells.end(taskId(1))
  expect(shells.has(taskId(1))).toBe(false)
})

// Attacks shell: a person opens shells without end, to use up the processes of a runner.
test('a person has at most 20 shells, open or opening', async () => {
  const opened = await Promise.all(first(21).map((n) => openOf(ada, n)))
  expect(opened.filter((one) => one?.kind === 'opened')).toHaveLength(20)
  expect(opened.filter((one) => one?.kind !== 'opened')).toEqual([
    { kind: 'refused', code: 'rate_limited', sentence: 'You have 20 open shells. Close one first.' },
  ])
  expect(programs).toHaveLength(20)
  const [open = 0] = first(21).filter((n) => shells.has(taskId(n)))
  expect(await openOf(ada, open)).toMatchObject({ kind: 'opened' })
  expect(await openOf(grace, 22)).toMatchObject({ kind: 'opened' })
  await shells.end(taskId(open))
  expect(await openOf(ada, 23)).toMatchObject({ kind: 'opened' })
  expect(await openOf(ada, 24)).toMatchObject({ kind: 'refused', code: 'rate_limited' })
})

test('a shell that could not be opened does not count', async () => {
  isSandboxMissing = true
  const refused = await Promise.all(first(20).map((n) => openOf(ada, n)))
  expect(refused).toEqual(refused.map(() => expect.objectContaining({ code: 'task_running' })))
  isSandboxMissing = false
  expect(await openOf(ada, 21)).toMatchObject({ kind: 'opened' })
})

// Attacks shell: while this machine still writes the files of a task, a shell replaces a folder of them by a link.
test('no shell is opened before the workspace is recorded, nor beside an agent that has not begun', async () => {
  isPrepared = false
  expect(await openOf(ada, 1)).toMatchObject({ kind: 'refused', code: 'not_initialized' })
  isPrepared = true
  isAgentToBegin = true
  expect(await openOf(ada, 1)).toMatchObject({ kind: 'refused', code: 'task_running' })
  expect(programs).toEqual([])
  isAgentToBegin = false
  expect(await openOf(ada, 1)).toMatchObject({ kind: 'opened', shared: true })
})

// Attacks shell: somebody who lost access to a private repository reads what others push to it.
test('nobody opens a shell beside a repository that they may no longer read', async () => {
  repositoryAtHost = () => Promise.reject(new CodeHostFault('forbidden', 'Resource not accessible.'))
  expect(await openOf(ada, 1)).toMatchObject({ kind: 'refused', code: 'no_repository_access' })
  repositoryAtHost = async () => ({ id: '8', mayPush: true })
  expect(await openOf(ada, 1)).toMatchObject({ kind: 'refused', code: 'no_repository_access' })
  expect(programs).toEqual([])
  repositoryAtHost = () => Promise.reject(new CodeHostFault('unavailable', 'Away'))
  expect(await openOf(ada, 1)).toMatchObject({ kind: 'opened' })
})

// Attacks shell: a person fills the disk from a shell, while the tasks of others run.
test('a shell is refused on a full disk, and one that fills the disk is ended and says why', async () => {
  noSpace = 'The disk is nearly full.'
  expect(await openOf(ada, 1)).toEqual({ kind: 'refused', code: 'disk_full', sentence: noSpace })
  expect(programs).toEqual([])
  noSpace = undefined
  expect(await openOf(ada, 1)).toMatchObject({ kind: 'opened' })
  expect([...watched.keys()]).toEqual([taskId(1)])
  watched.get(taskId(1))?.stop('disk_limit', 'Stopped: it filled the disk.')
  await expect.poll(() => shells.has(taskId(1))).toBe(false)
  expect(printed.at(-1)).toMatchObject({
    data: { ended: 'sandbox_ended' },
    content: { text: '\r\n[Stopped: it filled the disk.]\r\n' },
  })
  expect([...watched.keys()]).toEqual([])
})
