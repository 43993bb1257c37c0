/** What every way of calling other processes must do. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RpcResponse, Rpc } from '#platform/ports/rpc.ts'

export interface OpenRpc {
  readonly rpc: Rpc
  /** The calls as another process sees them; the same object within one process. */
  readonly elsewhere: Rpc
  readonly close: () => Promise<void>
}

const asked = { taskId: 'a-task', ownerId: 'ada', baseBranch: 'main' }
const changes: RpcResponse<'changes'> = {
  kind: 'changes',
  currentBranch: 'words/Ä ☃',
  ahead: 1,
  behind: 0,
  truncated: false,
  files: 2,
  blob: { hash: 'ab'.repeat(32), size: 3 },
}
const notFound: RpcResponse<'changes'> = { kind: 'base_not_found' }

export function rpcContract(name: string, open: () => Promise<OpenRpc>): void {
  describe(`rpc: ${name}`, () => {
    let opened: OpenRpc
    let rpc: Rpc
    let elsewhere: Rpc
    beforeEach(async () => {
      opened = await open()
      rpc = opened.rpc
      elsewhere = opened.elsewhere
    })
    afterEach(() => opened.close())

    const ask = (withinMs = 5_000) => rpc.call('changes', asked, withinMs)

    test('who knows is asked what was asked, and its answer comes whole', async () => {
      const heard: unknown[] = []
      elsewhere.handle('changes', async (question) => {
        heard.push(question)
        return changes
      })
      await elsewhere.ready()
      expect(await ask()).toEqual(changes)
      expect(heard).toEqual([asked])
    })

    test('lines of a file are asked for and told, whatever is in them', async () => {
      const lines = { taskId: 'a-task', ownerId: 'ada', blob: 'ab'.repeat(20), from: 3, to: 5 }
      const told: RpcResponse<'lines'> = { lines: ['', '\t"Ä ☃"\r', '\u0000\u2028'], total: 5 }
      const heard: unknown[] = []
      elsewhere.handle('lines', async (question) => {
        heard.push(question)
        return told
      })
      await elsewhere.ready()
      expect(await rpc.call('lines', lines, 5_000)).toEqual(told)
      expect(heard).toEqual([lines])
    })

    test('with nobody to ask there is no answer, and no wait for one', async () => {
      expect(await ask(60_000)).toBeUndefined()
    })

    test('who does not know, or fails, leaves the answer to others', async () => {
      elsewhere.handle('changes', async () => undefined)
      elsewhere.handle('changes', () => Promise.reject(new Error('as the test wants it')))
      rpc.handle('changes', async () => notFound)
      await Promise.all([rpc.ready(), elsewhere.ready()])
      expect(await ask()).toEqual(notFound)
    })

    test('nobody who knows is waited for longer than was said, and what comes later is not heard', async () => {
      let late: (answer: RpcResponse<'changes'>) => void = () => {}
      elsewhere.handle('changes', () => new Promise((resolve) => (late = resolve)))
      await elsewhere.ready()
      expect(await ask(50)).toBeUndefined()
      late(changes)
      const stop = rpc.handle('changes', async () => notFound)
      await rpc.ready()
      expect(await ask()).toEqual(notFound)
      stop()
    })

    test('many questions at once get each its own answer', async () => {
      elsewhere.handle('changes', async ({ taskId }) => ({ ...changes, currentBranch: taskId }))
      await elsewhere.ready()
      const ids = Array.from({ length: 100 }, (_, n) => `task-${n}`)
      const answers = await Promise.all(ids.map((taskId) => rpc.call('changes', { ...asked, taskId }, 5_000)))
      expect(answers).toEqual(ids.map((currentBranch) => ({ ...changes, currentBranch })))
    })

    test('who has stopped answering is not asked', async () => {
      let count = 0
      const stop = elsewhere.handle('changes', async () => {
        count += 1
        return changes
      })
      await elsewhere.ready()
      expect(await ask()).toEqual(changes)
      stop()
      await elsewhere.ready()
      expect(await ask(200)).toBeUndefined()
      expect(count).toBe(1)
    })
  })
}
