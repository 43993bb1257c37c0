/** Text deltas on the bus: sealed, in order, for those who subscribe to them. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hearingBus } from '../../../tests/hearingBus.ts'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { openInProcessBus } from '../bus/inProcess.ts'
import { liveWords, type Words } from './liveWords.ts'
import { logger } from '../log.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const words = (offset: number, text: string, taskId = 't1'): Words => ({
  taskId,
  executionId: 'e1',
  messageId: 'm1',
  offset,
  text,
})

function scene() {
  const bus = hearingBus()
  const live = liveWords({ bus, vault: engines.vault, logger: logger('silent') })
  const heard: Words[] = []
  const stop = live.hear(
    (taskId) => taskId === 't1',
    (said) => heard.push(said),
  )
  return { bus, live, heard, stop }
}

test('reach who listens in their order, and nothing of them stands on the bus', async () => {
  const { bus, live, heard } = scene()
  const said = ['The ', 'secret ', 'plan'].map((text, index) => words(index, text))
  for (const each of said) live.tell(each)
  await vi.waitFor(() => expect(heard).toEqual(said))
  expect(JSON.stringify(bus.said('words'))).not.toMatch(/secret|plan/)
})

test('of a task that nobody here watches are not opened', async () => {
  const { live, heard, bus } = scene()
  const open = vi.spyOn(engines.vault, 'open')
  live.tell(words(0, 'elsewhere', 't2'))
  live.tell(words(0, 'here'))
  await vi.waitFor(() => expect(heard).toEqual([words(0, 'here')]))
  expect(bus.said('words')).toHaveLength(2)
  expect(open).toHaveBeenCalledTimes(1)
})

test('that were moved to another place of the message, or whose key was destroyed, are left out; others go on', async () => {
  const { bus, live, heard } = scene()
  live.tell(words(0, 'first'))
  await vi.waitFor(() => expect(heard).toHaveLength(1))
  const [sealed] = bus.said('words')
  if (sealed) bus.publish('words', { ...sealed, offset: 5 })
  live.tell(words(5, 'second'))
  await vi.waitFor(() => expect(heard.map(({ text }) => text)).toEqual(['first', 'second']))
  await engines.vault.destroy('task:t1')
  live.tell(words(11, 'third'))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(heard).toHaveLength(2)
})

test('that are a thought are told apart, and are not opened as words', async () => {
  const { bus, live, heard } = scene()
  live.tell({ ...words(0, 'Hmm.'), isThought: true })
  await vi.waitFor(() => expect(heard).toEqual([{ ...words(0, 'Hmm.'), isThought: true }]))
  const [sealed] = bus.said('words')
  if (sealed) bus.publish('words', { ...sealed, isThought: undefined })
  live.tell(words(0, 'Aloud.'))
  await vi.waitFor(() => expect(heard.map(({ text }) => text)).toEqual(['Hmm.', 'Aloud.']))
})

test('beyond what may wait are left out, and nobody is kept waiting', async () => {
  const { live, heard, stop } = scene()
  for (let n = 0; n < 5_000; n += 1) live.tell(words(n, 'x'))
  await vi.waitFor(() => expect(heard.length).toBeGreaterThan(0))
  await vi.waitFor(() => expect(heard.at(-1)?.offset).toBe(999))
  expect(heard).toHaveLength(1_000)
  stop()
  live.tell(words(1, 'late'))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(heard).toHaveLength(1_000)
})

test('within one process reach who listens at once, without the vault', () => {
  const live = liveWords({
    bus: openInProcessBus({ onFault: () => undefined }),
    vault: engines.vault,
    logger: logger('silent'),
  })
  const seal = vi.spyOn(engines.vault, 'seal')
  const heard: Words[] = []
  live.hear(
    () => true,
    () => {
      throw new Error('A listener failed.')
    },
  )
  const stop = live.hear(
    (taskId) => taskId === 't1',
    (said) => heard.push(said),
  )
  live.tell(words(0, 'here'))
  live.tell(words(0, 'elsewhere', 't2'))
  stop()
  live.tell(words(4, 'late'))
  expect(heard).toEqual([words(0, 'here')])
  expect(seal).not.toHaveBeenCalled()
})
