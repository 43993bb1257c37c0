import { beforeEach, expect, test } from 'vitest'
import type { Workspace } from '../workspace/workspace.ts'
import type { OpenedAgent } from '../execution/turn/agentProcess.ts'
import { earlySandbox, type EarlySandbox } from './earlySandbox.ts'

const workspace: Workspace = {
  taskId: 'one',
  dir: '/w/tree',
  homeDir: '/w/home',
  privateGitDir: '/w/git',
  mirrorDir: '/m',
  mirrorObjects: '/m/objects',
  branch: 'work',
  baseBranch: 'main',
  startCommit: null,
  owner: undefined,
}
const openedFor = { fingerprint: 'claude', session: null }

/** What became of the sandboxes, in the order in which they were opened. */
let sandboxes: ('open' | 'closed' | 'gone')[]
let faults: unknown[]
let early: EarlySandbox
/** Settles when the next one may open. */
let mayOpen: Promise<void>
beforeEach(() => {
  sandboxes = []
  faults = []
  mayOpen = Promise.resolve()
  early = earlySandbox({
    async open() {
      await mayOpen
      const index = sandboxes.push('open') - 1
      const sandbox: OpenedAgent = {
        isOpen: () => sandboxes[index] === 'open',
        begin() {
          throw new Error('Nobody begins here.')
        },
        close: async () => void (sandboxes[index] = 'closed'),
      }
      return { sandbox, openedFor }
    },
    onFault: (fault) => faults.push(fault),
  })
})
const open = () => early.open(workspace, 'http://localhost/ada/sample.git')

test('is handed over once, open', async () => {
  expect(await early.take(openedFor)).toBeUndefined()
  open()
  expect((await early.take(openedFor))?.isOpen()).toBe(true)
  expect(await early.take(openedFor)).toBeUndefined()
  await early.close()
  expect(sandboxes).toEqual(['open'])
})

test.each([
  { ...openedFor, fingerprint: 'cursor' },
  { ...openedFor, session: 'before' },
])('is closed when the turn wants another: %o', async (wanted) => {
  open()
  expect(await early.take(wanted)).toBeUndefined()
  expect(sandboxes).toEqual(['closed'])
})

test('that ended by itself is not handed over', async () => {
  open()
  await new Promise(setImmediate)
  sandboxes[0] = 'gone'
  expect(await early.take(openedFor)).toBeUndefined()
})

test('is closed before another is opened: its folders may be gone', async () => {
  open()
  open()
  expect(await early.take(openedFor)).toBeDefined()
  expect(sandboxes).toEqual(['closed', 'open'])
})

test('is closed while it still opens', async () => {
  let go = () => {}
  mayOpen = new Promise((resolve) => (go = resolve))
  open()
  const closed = early.close()
  go()
  await closed
  expect(sandboxes).toEqual(['closed'])
})

test('that cannot be opened is none, and told to the log', async () => {
  mayOpen = Promise.reject(new Error('no'))
  open()
  expect(await early.take(openedFor)).toBeUndefined()
  expect(faults).toEqual([new Error('no')])
  await early.close()
})
