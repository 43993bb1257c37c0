import { beforeEach, expect, test } from 'vitest'
import type { Workspace } from '../workspace/workspace.ts'
import type { OpenedAgent } from '../execution/agentProcess.ts'
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

/** What became of the boxes, in the order in which they were opened. */
let boxes: ('open' | 'closed' | 'gone')[]
let faults: unknown[]
let early: EarlySandbox
/** Settles when the next one may open. */
let mayOpen: Promise<void>
beforeEach(() => {
  boxes = []
  faults = []
  mayOpen = Promise.resolve()
  early = earlySandbox({
    async open() {
      await mayOpen
      const index = boxes.push('open') - 1
      const box: OpenedAgent = {
        isOpen: () => boxes[index] === 'open',
        begin() {
          throw new Error('Nobody begins here.')
        },
        close: async () => void (boxes[index] = 'closed'),
      }
      return { box, openedFor }
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
  expect(boxes).toEqual(['open'])
})

test.each([
  { ...openedFor, fingerprint: 'cursor' },
  { ...openedFor, session: 'before' },
])('is closed when the turn wants another: %o', async (wanted) => {
  open()
  expect(await early.take(wanted)).toBeUndefined()
  expect(boxes).toEqual(['closed'])
})

test('that ended by itself is not handed over', async () => {
  open()
  await new Promise(setImmediate)
  boxes[0] = 'gone'
  expect(await early.take(openedFor)).toBeUndefined()
})

test('is closed before another is opened: its folders may be gone', async () => {
  open()
  open()
  expect(await early.take(openedFor)).toBeDefined()
  expect(boxes).toEqual(['closed', 'open'])
})

test('is closed while it still opens', async () => {
  let go = () => {}
  mayOpen = new Promise((resolve) => (go = resolve))
  open()
  const closed = early.close()
  go()
  await closed
  expect(boxes).toEqual(['closed'])
})

test('that cannot be opened is none, and told to the log', async () => {
  mayOpen = Promise.reject(new Error('no'))
  open()
  expect(await early.take(openedFor)).toBeUndefined()
  expect(faults).toEqual([new Error('no')])
  await early.close()
})
