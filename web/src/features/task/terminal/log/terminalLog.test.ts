import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTerminalLog, keptLines, type ReadEarlier } from './terminalLog.ts'

const said = (
  content: string,
  more: Partial<{
    type: 'stdout' | 'stderr'
    executionId: string
    timestamp: string
    position: string
  }> = {},
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
type Log = ReturnType<typeof createTerminalLog>
const texts = (log: Log) => log.read().lines.map(({ text }) => text)

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

  test('tells once of all that came at once, keeps what is bounded, and says that there was more', () => {
    const log = createTerminalLog()
    let told = 0
    log.subscribe(() => (told += 1))
    const pieces = Array.from({ length: 600 }, (_, index) =>
      said(`${index}\n`.repeat(100), { position: String(index) }),
    )
    log.append(pieces)
    expect(told).toBe(1)
    const { lines, earlier } = log.read()
    expect(lines.length).toBeLessThanOrEqual(keptLines)
    expect(lines.at(-1)?.id).toBe(59_999)
    expect(texts(log).at(-1)).toBe('599')
    // Only whole pieces of output were dropped.
    expect(lines.filter(({ text }) => text === lines[0]?.text)).toHaveLength(100)
    expect(earlier).toBe('gone')
  })

  test('begins anew with a history', async () => {
    const log = createTerminalLog()
    log.append([said('half a li')])
    await log.reset([said('a line\n')])
    log.append([said('next\n')])
    expect(texts(log)).toEqual(['a line', 'next'])
    expect(log.read()).toMatchObject({ state: 'loaded', earlier: 'none' })
  })
})

describe('earlier output', () => {
  const history = [
    'one\ntw',
    'o\n\u001B[1m$ make\u001B[0m\n',
    'made\n\u001B]133;D;0\u0007',
    'said\nmo',
    're\n',
  ].map((content, index) => said(content, { position: String(index) }))
  /** Answers with pages of this many pieces. */
  const pages =
    (pieces: readonly ReturnType<typeof said>[], size: number): ReadEarlier =>
    async (before) => {
      const all = pieces.filter(({ position }) => Number(position) < Number(before))
      return { output: all.slice(-size), whole: all.length <= size }
    }
  const opened = async (pieces: readonly ReturnType<typeof said>[], latest: number, size: number) => {
    const log = createTerminalLog(pages(pieces, size))
    await log.reset(pieces.slice(-latest), latest >= pieces.length)
    return log
  }
  const whole = async () => {
    const log = createTerminalLog()
    await log.reset(history)
    return log.read()
  }

  test('is offered when there is some, and comes above what is there, page by page', async () => {
    const log = await opened(history, 2, 2)
    expect(log.read().earlier).toBe('some')
    await log.showEarlier()
    expect(log.read().earlier).toBe('some')
    await log.showEarlier()
    expect(log.read().earlier).toBe('none')
    expect(texts(log)).toEqual((await whole()).lines.map(({ text }) => text))
    const ids = log.read().lines.map(({ id }) => id)
    expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index))
  })

  test('a line and a command that a page is cut in are whole again, and go on', async () => {
    const bit = fc.constantFrom(
      'a',
      'b\n',
      '\n',
      '\n\u001B[1m$ x\u001B[0m\n',
      '\u001B]133;D;1\u0007',
      '\u001B[31m',
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(bit, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 8 }),
        fc.nat({ max: 6 }),
        async (bits, latest) => {
          const pieces = bits.map((bitsOf, index) => said(bitsOf.join(''), { position: String(index) }))
          const log = await opened(pieces, Math.min(pieces.length, latest + 1), 1)
          for (let page = latest; page < pieces.length; page += 1) await log.showEarlier()
          const reference = createTerminalLog()
          await reference.reset(pieces)
          const shape = ({ lines, commands }: ReturnType<Log['read']>) => ({
            texts: lines.map(({ text }) => text.replaceAll('\u001B[31m', '')),
            commands: commands.map(({ id, until, exitCode }) => [
              id - (lines[0]?.id ?? 0),
              until === null ? null : until - id,
              exitCode,
            ]),
          })
          expect(log.read().earlier).toBe('none')
          expect(shape(log.read())).toEqual(shape(reference.read()))
        },
      ),
      { numRuns: 200 },
    )
  })

  test('that cannot be read is said so, and may be asked for again', async () => {
    let answers = 0
    const log = createTerminalLog(async () => {
      answers += 1
      return answers === 1 ? null : { output: [said('first\n', { position: '0' })], whole: true }
    })
    await log.reset([said('second\n', { position: '1' })], false)
    await log.showEarlier()
    expect(log.read().earlier).toBe('failed')
    await log.showEarlier()
    expect(texts(log)).toEqual(['first', 'second'])
  })

  test('is not joined to a first line that is whole because lines before it were dropped', async () => {
    const dropped = keptLines / 10
    const pieces = [
      said(`${'first\n'.repeat(dropped)}foo`, { position: '0' }),
      said(`bar\nbaz\n${'last\n'.repeat(keptLines - dropped - 1)}`, { position: '1' }),
    ]
    const log = createTerminalLog(pages(pieces, 1))
    await log.reset(pieces)
    expect(texts(log)[0]).toBe('baz')
    await log.showEarlier()
    expect(texts(log).slice(dropped - 1, dropped + 2)).toEqual(['first', 'foo', 'baz'])
  })

  test('goes on while more comes', async () => {
    let answer = () => {}
    const log = createTerminalLog(async () => {
      await new Promise<void>((resolve) => (answer = resolve))
      return { output: [said('first\n', { position: '0' })], whole: true }
    })
    await log.reset([said('second\n', { position: '1' })], false)
    const showing = log.showEarlier()
    log.append([said('third\n', { position: '2' })])
    answer()
    await showing
    expect(texts(log)).toEqual(['first', 'second', 'third'])
    log.append([said('fourth\n', { position: '3' })])
    expect(log.read().lines.map(({ id }) => id)).toEqual([-1, 0, 1, 2])
  })
})

describe('commands in the terminal', () => {
  const announce = (command: string) => `\u001B[1m$ ${command}\u001B[0m\n`
  const ended = (exit: number) => `\u001B]133;D;${exit}\u0007`
  const commands = (log: Log) => log.read().commands.map(({ id, until, exitCode }) => [id, until, exitCode])

  test('have the lines up to where they ended, and how', () => {
    const log = createTerminalLog()
    log.append([said(`Words\n${announce('make')}a\nb\n${ended(2)}More words\n`)])
    expect(commands(log)).toEqual([[1, 4, 2]])
    expect(texts(log).at(-1)).toBe('More words')
  })

  test('go on until somebody says that they ended, or another begins', () => {
    const log = createTerminalLog()
    log.append([said(`${announce('make')}a\n`)])
    expect(commands(log)).toEqual([[0, null, null]])
    log.append([said(announce('make again'))])
    expect(commands(log)).toEqual([
      [0, 2, null],
      [2, null, null],
    ])
    log.append([said('of another run\n', { executionId: 'e2' })])
    expect(commands(log)[1]).toEqual([2, 3, null])
  })

  test('took from the time of their line to that of their end', () => {
    const log = createTerminalLog()
    log.append([said(announce('make'))])
    log.append([said(ended(0), { timestamp: '2026-11-21T10:00:12.400Z' })])
    expect(log.read().commands[0]).toMatchObject({
      at: '2026-11-21T10:00:00.000Z',
      endedAt: '2026-11-21T10:00:12.400Z',
    })
  })

  test('keep what standard error says right behind their end', () => {
    const log = createTerminalLog()
    log.append([said(`${announce('make')}a${ended(1)}`), said('late\n', { type: 'stderr' }), said('words\n')])
    expect(commands(log)).toEqual([[0, 3, 1]])
  })
})
