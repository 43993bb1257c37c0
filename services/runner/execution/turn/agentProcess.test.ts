/** The start of an agent in its sandbox, which the test stands in for. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { logger } from '#platform/log.ts'
import { executionId, taskId } from '../../../../tests/domain/ids.ts'
import { cursor } from '../../agents/cursor/cursor.ts'
import { imageFiles } from '../../agents/images.ts'
import type { SandboxedProcess, SandboxExit } from '../../sandbox/port.ts'
import { openAgent } from './agentProcess.ts'
import { startAgent } from './agentSetup.ts'

function waitingProcess(): SandboxedProcess {
  let end: (exit: SandboxExit) => void = () => undefined
  const exited = new Promise<SandboxExit>((resolve) => (end = resolve))
  const kill = () => end({ code: null, signal: 'SIGKILL', reason: 'killed' })
  return {
    pid: null,
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    exited,
    interrupt: () => undefined,
    kill,
    settled: Promise.resolve(),
    exec: () => Promise.reject(new Error('It starts no program.')),
    programs: () => [],
    listening: async () => [],
    freeze: async () => 'frozen',
    thaw: () => undefined,
  }
}

const openedIn = (child: SandboxedProcess) =>
  openAgent(
    {
      scratch: { make: async () => '/nonexistent/scratch' },
      textThreads: { run: () => Promise.reject(new Error('Unused.')), close: async () => undefined },
      logger: logger('silent'),
      ids: { uuid: () => executionId(1) },
      isRoot: false,
      installed: { report: () => undefined },
    },
    {
      agent: cursor,
      program: { found: true, path: '/bin/cursor-agent', version: '1', shown: '/bin/cursor-agent' },
      sandbox: {
        kind: 'bubblewrap',
        run: () => child,
        paths: () => ({ tree: '/workspace', home: '/home/agent' }),
        seenAs: ({ target }) => target,
        gitFor: () => () => Promise.reject(new Error('It runs no git.')),
      },
      workspace: {
        taskId: taskId(1),
        dir: '/nonexistent/tree',
        homeDir: '/nonexistent/home',
        privateGitDir: '/nonexistent/git',
        mirrorDir: '/nonexistent/mirror',
        mirrorObjects: '/nonexistent/mirror/objects',
        branch: 'work',
        baseBranch: 'main',
        startCommit: null,
        owner: undefined,
      },
      session: null,
      model: null,
      mode: 'free',
      allowedRules: [],
      backend: { kind: 'key', apiKey: 'a key' },
      sandboxEnv: {
        fingerprint: '',
        modelFetches: false,
        open: async () => ({
          env: {},
          readOnly: [],
          sockets: [],
          relayCount: 0,
          ownPorts: [],
          command: (command) => command,
          close: async () => ({ connections: 0, sent: 0, received: 0 }),
        }),
      },
    },
  )

// Attacks shell: a person's program replaces a folder of the agent's home by a link while this machine writes into it.
test('no program of a person may be started beside an agent before it begins', async () => {
  const child = waitingProcess()
  const opened = await openedIn(child)
  expect(child.isToBegin).toBe(true)
  opened.begin()
  expect(child.isToBegin).toBe(false)
})

// Attacks services: a service replaces a folder of the agent's home by a link while the images of a message are written.
test('the images of a message are in the home when the agent begins', async () => {
  const home = await mkdtemp(join(tmpdir(), 'home-'))
  try {
    const images = imageFiles(cursor, [{ mediaType: 'image/gif', base64: 'R0lGODlh' }])
    const child = waitingProcess()
    const isThere = () => images.every(({ path }) => existsSync(join(home, path)))
    const seen: boolean[] = []
    const opening = openedIn(child).then((opened) => ({
      ...opened,
      begin() {
        seen.push(isThere())
        return opened.begin()
      },
    }))
    await startAgent(opening, { agent: cursor }, images, { homeDir: home, owner: undefined })
    expect([images.length, seen]).toEqual([1, [true]])
  } finally {
    await rm(home, { recursive: true })
  }
})
