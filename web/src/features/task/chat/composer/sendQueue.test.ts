// @vitest-environment jsdom
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { clientStore } from '../../../../../../tests/client/page.tsx'
import { messageId, taskId } from '../../../../../../tests/domain/ids.ts'
import { sessionEnded } from '../../../../api/session.ts'
import { connectionChanged } from '../../../../live/connection.ts'
import { selectWaiting } from '../../../../live/outbox.ts'
import {
  messageDiscarded,
  messageRefused,
  messageSent,
  messageTaken,
  taskClosed,
  taskOpened,
} from '../../taskSlice.ts'
import { messageOf } from '../../../../../../tests/client/samples.ts'
import { sendInOrder } from './sendQueue.ts'

const away = { error: { status: null, code: 'offline', message: '', field: null } }
const refused = { error: { status: 409, code: 'refused', message: 'No.', field: null } }
const taken = { data: true, error: undefined }
type Answer = typeof away | typeof refused | typeof taken

/** A person who writes messages in a task. The server answers each attempt with the next of `answers`, and after those accepts everything. */
function writer(answers: readonly Answer[] = []) {
  const store = clientStore()
  store.dispatch(taskOpened(taskId(1)))
  store.dispatch(connectionChanged('connected'))
  const left = [...answers]
  const tried: number[] = []
  const ended: string[] = []
  const write = (n: number) => {
    const id = messageId(n)
    const sentAt = '2026-01-01T00:00:00.000Z'
    const message = {
      id,
      taskId: taskId(1),
      text: String(n),
      isCommand: false,
      agent: 'claude',
      sentAt,
    } as const
    store.dispatch(messageSent({ ...message, refused: null }))
    const send = async () => {
      const answer = await sendInOrder<Answer>(store, id, async () => {
        tried.push(n)
        return left.shift() ?? taken
      })
      // `useSendMessage` handles the answers in the same way.
      if (answer === null) ended.push(`${n} discarded`)
      else if (answer.error !== undefined) {
        store.dispatch(messageRefused({ id, reason: 'No.' }))
        ended.push(`${n} refused`)
      } else {
        store.dispatch(messageTaken(messageOf(n)))
        ended.push(`${n} taken`)
      }
    }
    void send()
  }
  return { store, tried, ended, write, waiting: () => selectWaiting(store.getState()) }
}
const settle = () => vi.advanceTimersByTimeAsync(0)
const lose = ({ store }: ReturnType<typeof writer>) => store.dispatch(connectionChanged('disconnected'))
const find = ({ store }: ReturnType<typeof writer>) => store.dispatch(connectionChanged('connected'))

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
})

describe('what is written without a connection', () => {
  test('waits, is counted, and goes in its order when the connection is back', async () => {
    const ada = writer([away])
    lose(ada)
    ada.write(1)
    ada.write(2)
    await settle()
    expect(ada.waiting()).toEqual([messageId(1), messageId(2)])
    ada.write(3)
    expect(ada.waiting()).toHaveLength(3)
    expect(ada.ended).toEqual([])
    find(ada)
    await settle()
    expect(ada.ended).toEqual(['1 taken', '2 taken', '3 taken'])
    expect(ada.tried).toEqual([1, 1, 2, 3])
    expect(ada.waiting()).toEqual([])
  })

  test('goes also when its task is no longer looked at', async () => {
    const ada = writer([away])
    lose(ada)
    ada.write(1)
    await settle()
    ada.store.dispatch(taskClosed(taskId(1)))
    find(ada)
    await settle()
    expect(ada.ended).toEqual(['1 taken'])
  })

  test('goes after a while where nothing tells that the connection is back', async () => {
    const ada = writer([away, away])
    ada.write(1)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(ada.ended).toEqual(['1 taken'])
    expect(ada.tried).toEqual([1, 1, 1])
  })

  test.each([
    [
      'that is discarded',
      (ada: ReturnType<typeof writer>) => ada.store.dispatch(messageDiscarded(messageId(1))),
    ],
    ['of who has logged out', (ada: ReturnType<typeof writer>) => ada.store.dispatch(sessionEnded('logout'))],
  ])('%s is not sent', async (_, end) => {
    const ada = writer([away])
    lose(ada)
    ada.write(1)
    await settle()
    end(ada)
    find(ada)
    await settle()
    expect(ada.tried).toEqual([1])
    expect(ada.waiting()).toEqual([])
  })

  test('keeps the page from being closed without a question', async () => {
    const ada = writer([away])
    lose(ada)
    ada.write(1)
    await settle()
    const leaves = () => !dispatchEvent(new Event('beforeunload', { cancelable: true }))
    expect(leaves()).toBe(true)
    find(ada)
    await settle()
    expect(leaves()).toBe(false)
  })
})

test('a refusal stops the one that is refused, and not those behind it', async () => {
  const ada = writer([refused])
  ada.write(1)
  ada.write(2)
  await settle()
  expect(ada.ended).toEqual(['1 refused', '2 taken'])
})

test('however often the connection goes, each message ends once, and in the order they were written', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.constantFrom<Answer>(away, taken, refused), { maxLength: 12 }),
      async (count, answers) => {
        const ada = writer(answers)
        for (let n = 1; n <= count; n += 1) ada.write(n)
        await vi.advanceTimersByTimeAsync(200_000)
        expect(ada.ended.map((end) => end.split(' ')[0])).toEqual(
          Array.from({ length: count }, (_, index) => String(index + 1)),
        )
        expect(ada.waiting()).toEqual([])
      },
    ),
    { numRuns: 50 },
  )
})
