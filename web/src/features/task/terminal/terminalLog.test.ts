import { describe, expect, test } from 'vitest'
import { createTerminalLog, linesKept } from './terminalLog.ts'

const said = (
  content: string,
  more: Partial<{ type: 'stdout' | 'stderr'; executionId: string; timestamp: string }> = {},
) => ({
  taskId: 't',
  timestamp: '2026-11-21T10:00:00.000Z',
  content,
  type: 'stdout' as const,
  executionId: 'e1',
  position: '1',
  version: 1,
  ...more,
})
const texts = (log: ReturnType<typeof createTerminalLog>) => log.read().lines.map(({ text }) => text)

describe('the terminal log', () => {
  test('a line that is written on keeps its place and the time it began', () => {
    const log = createTerminalLog()
    log.append([said('one\ntw'), said('o\nthree', { timestamp: '2026-11-21T10:00:09.000Z' })])
    expect(texts(log)).toEqual(['one', 'two', 'three'])
    expect(log.read().lines.map(({ at }) => at.slice(17, 19))).toEqual(['00', '00', '09'])
    expect(log.read().lines.map(({ id }) => id)).toEqual([0, 1, 2])
  })

  test('a progress line is one line', () => {
    const log = createTerminalLog()
    for (let percent = 0; percent <= 100; percent += 10) log.append([said(`\r${percent}%`)])
    expect(texts(log)).toEqual(['100%'])
  })

  test('standard error begins a line of its own', () => {
    const log = createTerminalLog()
    log.append([said('out'), said('err', { type: 'stderr' }), said('more\n')])
    expect(log.read().lines.map(({ text, channel }) => [text, channel])).toEqual([
      ['out', 'stdout'],
      ['err', 'stderr'],
      ['more', 'stdout'],
    ])
  })

  test('tells once of all that came at once, and keeps what is bounded', () => {
    const log = createTerminalLog()
    let told = 0
    log.subscribe(() => (told += 1))
    log.append(Array.from({ length: 600 }, (_, index) => said(`${index}\n`.repeat(100))))
    expect(told).toBe(1)
    expect(log.read().lines.length).toBeLessThanOrEqual(linesKept)
    expect(log.read().lines.length + log.read().dropped).toBe(60_000)
    expect(texts(log).at(-1)).toBe('599')
  })

  test('begins anew with a history', async () => {
    const log = createTerminalLog()
    log.append([said('half a li')])
    await log.reset([said('a line\n')])
    log.append([said('next\n')])
    expect(texts(log)).toEqual(['a line', 'next'])
    expect(log.read().state).toBe('loaded')
  })
})
