/** An agent's text as it is streamed and as it is recorded. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { TerminalEvent } from '#domain/task/terminalEvents.ts'
import { executionId } from '../../../../tests/domain/ids.ts'
import { redactionOf } from '../../redaction/redaction.ts'
import { textThreads } from '../../redaction/textThreads.ts'
import { messageTexts } from './messageText.ts'

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'Date'],
    now: new Date('2026-01-01T00:00:00.000Z'),
  })
})
afterEach(() => vi.useRealTimers())

const fence = { executionId: executionId(1), attempt: 1 }
type Text = Extract<TerminalEvent, { type: 'MessageTextRecorded' }>

function scene({
  append = async () => undefined,
  secrets = [],
}: Partial<{ append: () => Promise<void>; secrets: string[] }> = {}) {
  const recorded: Text[] = []
  const told: { readonly offset: number; readonly text: string }[] = []
  const thought: typeof told = []
  const texts = messageTexts({
    terminal: {
      async append(event, onBegun) {
        if (event.type === 'MessageTextRecorded') recorded.push(event)
        onBegun?.()
        await append()
      },
      tell: ({ offset, text, isThought }) => void (isThought ? thought : told).push({ offset, text }),
    },
    fence,
    redaction: redactionOf(secrets, textThreads()),
    clock: { now: () => new Date() },
  })
  return { texts, recorded, told, thought }
}

/** As a model talks: a word each 20 ms. */
async function speak(texts: ReturnType<typeof messageTexts>, words: readonly string[]) {
  for (const word of words) {
    await texts.write('k', word)
    await vi.advanceTimersByTimeAsync(20)
  }
}
const hundred = Array.from({ length: 100 }, (_, n) => `word${n} `)

describe('a message of a hundred words in two seconds', () => {
  test('is told word by word and recorded in few pieces, each in its place and at most 250 ms long', async () => {
    const { texts, recorded, told } = scene()
    await speak(texts, hundred)
    await texts.finish('k')
    expect(told.length).toBeGreaterThanOrEqual(90)
    expect(recorded.length).toBeLessThanOrEqual(10)
    let text = ''
    for (const { data, content } of recorded) {
      expect(data.offset).toBe(text.length)
      text += content.text
      expect(content.chunks.reduce((sum, [length]) => sum + length, 0)).toBe(content.text.length)
      expect(content.chunks.at(-1)?.[1]).toBeLessThanOrEqual(260)
    }
    expect(text).toBe(hundred.join(''))
  })

  test('is recorded with the time of each word', async () => {
    const { texts, recorded } = scene()
    await speak(texts, hundred)
    await texts.finish('k')
    const times = new Map<string, number>()
    for (const { content } of recorded) {
      let from = 0
      for (const [length, after] of content.chunks) {
        times.set(content.text.slice(from, from + length), Date.parse(content.begunAt) + after)
        from += length
      }
    }
    const begun = Date.parse('2026-01-01T00:00:00.000Z')
    for (const [n, word] of hundred.entries()) {
      expect(times.get(word) ?? 0).toBeGreaterThanOrEqual(begun + 20 * n)
      expect(times.get(word) ?? Infinity).toBeLessThanOrEqual(begun + 20 * n + 15)
    }
  })

  test('is told so that who missed words has them with the next', async () => {
    const { texts, recorded, told } = scene()
    await speak(texts, hundred)
    const known = recorded.map(({ content }) => content.text).join('')
    // Only what is recorded, and the last that was told.
    const last = told.at(-1)
    expect(last?.offset).toBeLessThanOrEqual(known.length)
    expect(known.slice(0, last?.offset) + (last?.text ?? '')).toBe(hundred.join(''))
    await texts.finish('k')
  })
})

test('a secret is neither told nor recorded, however its letters come', async () => {
  const { texts, recorded, told } = scene({ secrets: ['opensesame-1234'] })
  await speak(texts, ['It is open', 'sesame-', '1234, they', ' say. '])
  await texts.finish('k')
  expect(JSON.stringify([told, recorded])).not.toMatch(/sesame/)
  expect(recorded.map(({ content }) => content.text).join('')).toMatch(/^It is .*, they say\. $/)
})

test('while the log is away words are still told, and each telling stays small', async () => {
  let open = () => undefined as void
  const away = new Promise<void>((resolve) => (open = resolve))
  const { texts, recorded, told } = scene({ append: () => away })
  const long = Array.from({ length: 200 }, () => 'x'.repeat(100))
  await speak(texts, long)
  expect(told.length).toBeGreaterThan(150)
  expect(Math.max(...told.map(({ text }) => text.length))).toBeLessThanOrEqual(2_000)
  open()
  await texts.finish('k')
  expect(recorded.map(({ content }) => content.text).join('')).toBe(long.join(''))
})

test('a log that refuses is heard of by who writes on, and at the end', async () => {
  const { texts } = scene({ append: () => Promise.reject(new Error('taken over')) })
  await texts.write('k', 'one ').catch(() => undefined)
  await vi.advanceTimersByTimeAsync(300)
  await texts.write('k', 'two ')
  await expect(texts.write('k', 'three ')).rejects.toThrow('taken over')
  await expect(texts.finish('k')).rejects.toThrow('taken over')
})

describe('a thought', () => {
  test('is told as it is written, redacted, and nothing of it is recorded', async () => {
    const { texts, recorded, told, thought } = scene({ secrets: ['opensesame-1234'] })
    for (const word of ['It is ', 'open', 'sesame-', '1234, ', 'then.', ' Or so.']) {
      await texts.think('t', word)
      await vi.advanceTimersByTimeAsync(100)
    }
    await texts.finish('t')
    expect([told, recorded]).toEqual([[], []])
    expect(thought.length).toBeGreaterThan(2)
    expect(JSON.stringify(thought)).not.toMatch(/sesame/)
    expect(thought.at(-1)).toEqual({ offset: 0, text: expect.stringMatching(/^It is .*, then\. Or so\.$/) })
  })

  test('is told in small parts, and not without end', async () => {
    const { texts, thought } = scene()
    for (let n = 0; n < 1_000; n += 1) {
      await texts.think('t', 'x'.repeat(100))
      await vi.advanceTimersByTimeAsync(20)
    }
    await texts.finish('t')
    expect(Math.max(...thought.map(({ text }) => text.length))).toBeLessThanOrEqual(2_000)
    expect(Math.max(...thought.map(({ offset, text }) => offset + text.length))).toBeLessThanOrEqual(32_000)
    expect(thought.length).toBeLessThan(100)
  })

  test('is told in whole characters', async () => {
    const { texts, thought } = scene()
    for (const piece of ['a', '🐟'.repeat(1_500), 'b']) {
      await texts.think('k', piece)
      await vi.advanceTimersByTimeAsync(100)
    }
    await texts.finish('k')
    expect(thought.length).toBeGreaterThan(1)
    for (const { text, offset } of thought) {
      expect(Buffer.from(text).toString()).toBe(text)
      expect(offset + text.length).toBeLessThanOrEqual(3_002)
    }
    expect(thought.at(-1)?.text.endsWith('🐟b')).toBe(true)
  })

  test('that begins anew is told from its beginning', async () => {
    const { texts, thought } = scene()
    await texts.think('t', 'Perhaps')
    await texts.restart('t')
    await texts.think('t', 'Surely')
    await texts.finish('t')
    expect(thought).toContainEqual({ offset: 0, text: 'Perhaps' })
    expect(thought.at(-1)).toEqual({ offset: 0, text: 'Surely' })
  })
})

test('a finished message need not wait until its last piece is on the disk, only until it is being appended', async () => {
  let onDisk = () => {}
  let isRecorded = false
  const { texts, recorded } = scene({ append: () => new Promise((resolve) => (onDisk = resolve)) })
  await texts.write('k', 'Hello ')
  await texts.write('k', 'there.')
  const finishing = texts.finish('k')
  expect(recorded.map(({ content }) => content.text)).toEqual(['Hello '])
  // The first piece is on the disk, and the second one is appended.
  onDisk()
  const finished = await finishing
  void finished.recorded.then(() => (isRecorded = true))
  expect(recorded.map(({ content }) => content.text)).toEqual(['Hello ', 'there.'])
  expect(isRecorded).toBe(false)
  onDisk()
  await finished.recorded
})
