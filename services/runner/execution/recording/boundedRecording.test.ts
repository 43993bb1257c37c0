/** What is recorded of a run with too much output: its beginning, its end, and how much is left out in between. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { usageStream } from '#domain/kernel/streams.ts'
import {
  MessagePosted,
  ToolFinished,
  ToolStarted,
  UsageRecorded,
  type ProgressEvent,
} from '#domain/task/events.ts'
import { ContextMeasured } from '#domain/task/contextEvents.ts'
import { ToolImagesKept } from '#domain/task/toolImageEvents.ts'
import { TerminalOutputRecorded, type TerminalEvent } from '#domain/task/terminalEvents.ts'
import { commands } from '#platform/commands/execute.ts'
import { executionId, imageId, messageId, userId } from '../../../../tests/domain/ids.ts'
import { openTestEngines, type TestEngines } from '../../../../tests/server/engines.ts'
import { afterTheDay, openRecordingAllowances, type RecordingAllowance } from './recordingAllowance.ts'
import { boundedRecording } from './boundedRecording.ts'

const fence = { executionId: executionId(1), attempt: 1 }
const printed = (text: string) =>
  TerminalOutputRecorded.of({ ...fence, kind: 'command', channel: 'stdout' }, { text })
const said = (message: string) =>
  MessagePosted.of(
    { messageId: messageId(1), messageType: 'response', agent: 'claude', executionId: fence.executionId },
    { message },
  )

const runOf = (bytes: number): RecordingAllowance => ({
  bytes: () => bytes,
  spend: () => undefined,
  reason: () => 'It is enough',
  settled: async () => undefined,
})

function scene(allowance: RecordingAllowance) {
  const terminal: TerminalEvent[] = []
  const chat: ProgressEvent[] = []
  const reports: (readonly ProgressEvent[])[] = []
  const told: string[] = []
  const recording = boundedRecording(
    allowance,
    {
      terminal: {
        append: async (event) => void terminal.push(event),
        tell: (words) => void told.push(words.text),
        head: () => null,
      },
      reporter: {
        async report(...progress) {
          reports.push(progress)
          chat.push(...progress)
        },
        delivered: async () => undefined,
        end: async () => undefined,
      },
    },
    { fence, kind: 'command', pause: async () => undefined },
  )
  const text = () => terminal.map((event) => event.content.text).join('')
  const messages = () =>
    chat.flatMap((event) => (event.type === 'MessagePosted' ? [event.content.message] : []))
  return { recording, told, terminal, chat, reports, text, messages }
}

test('how full the context is is recorded a thousand times at most, and takes no place of the usage', async () => {
  const { recording, chat } = scene(runOf(1_000_000))
  const { executionId: id } = fence
  for (let usedTokens = 0; usedTokens < 1_500; usedTokens += 1)
    await recording.reporter.report(
      ContextMeasured.of({ executionId: id, context: { usedTokens, windowTokens: 2_000 } }),
    )
  const tokens = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  await recording.reporter.report(UsageRecorded.of({ executionId: id, model: null, ...tokens, costUsd: 1 }))
  expect(chat.filter(({ type }) => type === 'ContextMeasured')).toHaveLength(1_000)
  expect(chat.at(-1)?.type).toBe('UsageRecorded')
})

describe('finding 5: the terminal', () => {
  test('is recorded whole where it is short', async () => {
    const { recording, text } = scene(runOf(1_000_000))
    for (let n = 0; n < 100; n += 1) await recording.terminal.append(printed(`line ${n}\n`))
    await recording.close()
    expect(text()).toBe(Array.from({ length: 100 }, (_, n) => `line ${n}\n`).join(''))
  })

  test('has its beginning, its end, and how much is left out, and takes no more than it may', async () => {
    const { recording, terminal, text } = scene(runOf(100_000))
    for (let n = 0; n < 500; n += 1)
      await recording.terminal.append(printed(`${String(n).padStart(4, '0')} ${'x'.repeat(1_000)}\n`))
    const before = text()
    expect(before).toContain('0000 x')
    expect(before).toContain('[It is enough. It goes on')
    expect(before.length).toBeLessThan(60_000)
    await recording.close()
    expect(text()).toMatch(/0\.7 MB that were printed are left out here\.\]\n04\d\d x/)
    expect(text().endsWith(`0499 ${'x'.repeat(1_000)}\n`)).toBe(true)
    expect(text().length).toBeLessThan(100_000)
    expect(terminal.length).toBeLessThan(100)
  })

  test('is not told live any more when it is not recorded', async () => {
    const { recording, told } = scene(runOf(100_000))
    const words = { executionId: fence.executionId, messageId: 'm', offset: 0 }
    recording.terminal.tell({ ...words, text: 'before' })
    for (let n = 0; n < 200; n += 1) await recording.terminal.append(printed('x'.repeat(1_000)))
    recording.terminal.tell({ ...words, text: 'after' })
    expect(told).toEqual(['before'])
  })

  test('of single characters takes no more of them than the log has room for', async () => {
    const { recording, terminal } = scene(runOf(100_000))
    for (let n = 0; n < 600; n += 1) await recording.terminal.append(printed('x'))
    await recording.close()
    expect(terminal.length * 512).toBeLessThan(101_000)
  })

  test('says how much is left out a few times only', async () => {
    const { recording, terminal } = scene(runOf(10_000))
    const large = 'x'.repeat(500_000)
    for (let n = 0; n < 200; n += 1) await recording.terminal.append(printed(large))
    expect(terminal.length).toBeLessThan(10)
    expect(terminal.at(-1)?.content.text).toMatch(/MB more were printed/)
  })
})

describe('finding 5: the chat', () => {
  test('has what was said first and last, and tools that began end', async () => {
    const { recording, chat, messages } = scene(runOf(100_000))
    const { executionId: of } = fence
    const tool = (toolId: string) =>
      ToolStarted.of(
        { executionId: of, toolId, kind: 'run', parentToolId: null },
        { name: 'Bash', target: 'x', input: '' },
      )
    const finished = (toolId: string) =>
      ToolFinished.of(
        { executionId: of, toolId, ok: true, durationMs: 1, exitCode: 0, additions: null, deletions: null },
        { summary: '', output: 'x'.repeat(4_000) },
      )
    await recording.reporter.report(tool('seen'))
    for (let n = 0; n < 200; n += 1) await recording.reporter.report(said(`${n}: ${'y'.repeat(1_000)}`))
    await recording.reporter.report(tool('unseen'), finished('unseen'), finished('seen'))
    await recording.close()
    const tools = chat.filter(({ type }) => type.startsWith('Tool'))
    expect(tools.map(({ type }) => type)).toEqual(['ToolStarted', 'ToolFinished'])
    expect(tools[1]?.content).toEqual({ summary: '', output: '' })
    expect(messages()[0]).toMatch(/^0: /)
    expect(messages().at(-1)).toMatch(/^199: /)
    expect(messages()).toContain('It is enough. It goes on; what it says last is shown when it has ended.')
    expect(messages().find((message) => message.includes('left out here'))).toMatch(
      /^1\d\d messages and calls of tools are left out here\.$/,
    )
    expect(messages().join('').length).toBeLessThan(100_000)
  })

  test.each([
    ['long', 1_000, 10_000],
    ['short', 16_000, 10],
  ])(
    'has its end recorded in parts, which every event store takes: %s messages',
    async (_, count, length) => {
      const { recording, reports, messages } = scene(runOf(8_000_000))
      for (let n = 0; n < count; n += 1) await recording.reporter.report(said(`${n}: ${'y'.repeat(length)}`))
      const before = reports.length
      await recording.close()
      const ending = reports.slice(before)
      expect(ending.length).toBeGreaterThan(4)
      for (const part of ending) {
        expect(part.length).toBeLessThanOrEqual(100)
        expect(JSON.stringify(part.map(({ content }) => content)).length).toBeLessThan(256_000)
      }
      expect(messages().at(-1)).toContain(`${count - 1}: y`)
      expect(messages().length).toBeLessThan(count)
    },
  )

  test('keeps images within the first half of what it may record, and counts the others', async () => {
    const { recording, chat } = scene(runOf(100_000))
    const image = (size: number) => ({
      imageId: imageId(1),
      mediaType: 'image/png' as const,
      width: 1,
      height: 1,
      blob: { hash: 'a'.repeat(64), size },
    })
    const tool = { executionId: executionId(1), toolId: 'tool-1' }
    await recording.reporter.report(
      ToolImagesKept.of({ ...tool, toolId: 'never begun', images: [image(1)], leftOut: 0 }),
      ToolStarted.of({ ...tool, kind: 'read', parentToolId: null }, { name: 'Read', target: 'a', input: '' }),
      ToolImagesKept.of({ ...tool, images: [image(20_000)], leftOut: 1 }),
      ToolImagesKept.of({ ...tool, images: [image(20_000), image(1)], leftOut: 1 }),
    )
    expect(chat.slice(1).map(({ data }) => data)).toMatchObject([
      { images: [{ blob: { size: 20_000 } }], leftOut: 1 },
      { images: [], leftOut: 3 },
    ])
  })

  test('has room however much was printed', async () => {
    const { recording, messages } = scene(runOf(100_000))
    for (let n = 0; n < 200; n += 1) await recording.terminal.append(printed('x'.repeat(1_000)))
    await recording.reporter.report(said('I am done.'))
    expect(messages()).toEqual(['I am done.'])
  })
})

describe('finding 5: the day of a person', () => {
  let engines: TestEngines
  let now = 0
  beforeEach(async () => {
    engines = await openTestEngines()
    now = Date.UTC(2026, 0, 1, 23)
  })
  afterEach(() => engines.close())
  const [ada, eve] = [userId(1), userId(2)]
  const faults: unknown[] = []
  /** A runner, as after its start. */
  const runner = (dayBytes: number | null) =>
    openRecordingAllowances({
      runBytes: 64_000_000,
      dayBytes,
      commands: commands(engines.log),
      now: () => now,
      patienceMs: 0,
      onFault: (fault) => faults.push(fault),
    })
  const run = (n: number, { of = ada, on = runner(10_000_000) } = {}) =>
    on.ofRun({ userId: of, executionId: executionId(n) })

  test('is over all runs and runners, and there again on the next', async () => {
    const one = run(1)
    one.spend(9_000_000)
    await one.settled()
    const two = run(2)
    await two.settled()
    expect(two.bytes()).toBe(64_000_000)
    two.spend(1_000_000)
    expect(two.bytes()).toBe(afterTheDay)
    expect(two.reason()).toBe('This person has recorded as much today as a person may, 10 MB')
    await two.settled()
    const [three, other] = [run(3), run(4, { of: eve })]
    await Promise.all([three.settled(), other.settled()])
    expect(three.bytes()).toBe(afterTheDay)
    expect(other.bytes()).toBe(64_000_000)
    now += 3_600_000
    const next = run(5)
    await next.settled()
    expect(next.bytes()).toBe(64_000_000)
    expect(faults).toEqual([])
  })

  test('of any amount is not counted', async () => {
    const free = run(1, { on: runner(null) })
    free.spend(1e12)
    await free.settled()
    expect(free.bytes()).toBe(64_000_000)
    expect(await engines.log.read(usageStream(ada, '2026-01-01'), 0, 10)).toEqual([])
  })
})
