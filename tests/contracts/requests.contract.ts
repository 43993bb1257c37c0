/** What every way of asking other processes must do. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Answered, Requests } from '#platform/ports/requests.ts'

export interface OpenRequests {
  readonly requests: Requests
  /** The same as another process has it; the very same where there is a single process. */
  readonly elsewhere: Requests
  readonly close: () => Promise<void>
}

const asked = { taskId: 'a-task', baseBranch: 'main' }
const changes: Answered<'changes'> = {
  kind: 'changes',
  currentBranch: 'words/Ä ☃',
  ahead: 1,
  behind: 0,
  truncated: false,
  files: 2,
  blob: { hash: 'ab'.repeat(32), size: 3 },
}
const notFound: Answered<'changes'> = { kind: 'base_not_found' }

export function requestsContract(name: string, open: () => Promise<OpenRequests>): void {
  describe(`requests: ${name}`, () => {
    let opened: OpenRequests
    let requests: Requests
    let elsewhere: Requests
    beforeEach(async () => {
      opened = await open()
      requests = opened.requests
      elsewhere = opened.elsewhere
    })
    afterEach(() => opened.close())

    const ask = (withinMs = 5_000) => requests.ask('changes', asked, withinMs)

    test('who knows is asked what was asked, and its answer comes whole', async () => {
      const heard: unknown[] = []
      elsewhere.answer('changes', async (question) => {
        heard.push(question)
        return changes
      })
      await elsewhere.ready()
      expect(await ask()).toEqual(changes)
      expect(heard).toEqual([asked])
    })

    test('lines of a file are asked for and told, whatever is in them', async () => {
      const lines = { taskId: 'a-task', blob: 'ab'.repeat(20), from: 3, to: 5 }
      const told: Answered<'lines'> = { lines: ['', '\t"Ä ☃"\r', '\u0000\u2028'], total: 5 }
      const heard: unknown[] = []
      elsewhere.answer('lines', async (question) => {
        heard.push(question)
        return told
      })
      await elsewhere.ready()
      expect(await requests.ask('lines', lines, 5_000)).toEqual(told)
      expect(heard).toEqual([lines])
    })

    test('with nobody to ask there is no answer, and no wait for one', async () => {
      expect(await ask(60_000)).toBeUndefined()
    })

    test('who does not know, or fails, leaves the answer to others', async () => {
      elsewhere.answer('changes', async () => undefined)
      elsewhere.answer('changes', () => Promise.reject(new Error('as the test wants it')))
      requests.answer('changes', async () => notFound)
      await Promise.all([requests.ready(), elsewhere.ready()])
      expect(await ask()).toEqual(notFound)
    })

    test('nobody who knows is waited for longer than was said, and what comes later is not heard', async () => {
      let late: (answer: Answered<'changes'>) => void = () => {}
      elsewhere.answer('changes', () => new Promise((resolve) => (late = resolve)))
      await elsewhere.ready()
      expect(await ask(50)).toBeUndefined()
      late(changes)
      const stop = requests.answer('changes', async () => notFound)
      await requests.ready()
      expect(await ask()).toEqual(notFound)
      stop()
    })

    test('many questions at once get each its own answer', async () => {
      elsewhere.answer('changes', async ({ taskId }) => ({ ...changes, currentBranch: taskId }))
      await elsewhere.ready()
      const ids = Array.from({ length: 100 }, (_, n) => `task-${n}`)
      const answers = await Promise.all(
        ids.map((taskId) => requests.ask('changes', { ...asked, taskId }, 5_000)),
      )
      expect(answers).toEqual(ids.map((currentBranch) => ({ ...changes, currentBranch })))
    })

    test('who has stopped answering is not asked', async () => {
      let count = 0
      const stop = elsewhere.answer('changes', async () => {
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
