import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createCoalescer, recordOutput } from './outputRecorder.ts'
import { redactionOf } from '../../redaction/redaction.ts'
import { textThreads } from '../../redaction/textThreads.ts'

/** A clock that advances when the test says so. */
const timers = {
  async pass(ms: number): Promise<void> {
    vi.advanceTimersByTime(ms)
    await settled()
  },
  get set(): number {
    return vi.getTimerCount()
  },
}
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A log that takes a piece only when the test opens it. */
function slowLog() {
  const pieces: string[] = []
  let open = () => {}
  return {
    pieces,
    emit: (piece: string) =>
      new Promise<void>((resolve) => {
        pieces.push(piece)
        open = resolve
      }),
    async takes() {
      open()
      await settled()
    },
  }
}

describe('when pieces go', () => {
  test('the first goes at once, what follows within 50 ms goes together', async () => {
    const pieces: string[] = []
    const output = createCoalescer({ emit: (piece) => void pieces.push(piece) })
    await output.write('one ')
    await output.write('two ')
    await output.write('three')
    expect(pieces).toEqual(['one '])
    await timers.pass(49)
    expect(pieces).toEqual(['one '])
    await timers.pass(1)
    expect(pieces).toEqual(['one ', 'two three'])
  })

  test('one that is full ends after a line, if it has one', async () => {
    const pieces: string[] = []
    const output = createCoalescer({ pieceBytes: 8, emit: (piece) => void pieces.push(piece) })
    await output.write('one\ntwo\nthree\na long line')
    await output.end()
    expect(pieces).toEqual(['one\ntwo\n', 'three\n', 'a long l', 'ine'])
  })

  test('several go at once where that is allowed, and on average still one in each interval', async () => {
    const pieces: string[] = []
    const output = createCoalescer({ burst: 2, emit: (piece) => void pieces.push(piece) })
    const write = async (text: string) => {
      await output.write(text)
      await settled()
    }
    for (const text of ['one', 'two', 'three', 'four']) await write(text)
    expect(pieces).toEqual(['one', 'two'])
    await timers.pass(50)
    expect(pieces).toEqual(['one', 'two', 'threefour'])
    await write('five')
    await timers.pass(49)
    expect(pieces).toHaveLength(3)
    await timers.pass(51)
    expect(pieces).toEqual(['one', 'two', 'threefour', 'five'])
    await timers.pass(100)
    for (const text of ['six', 'seven']) await write(text)
    expect(pieces.slice(-2)).toEqual(['six', 'seven'])
  })

  test('after a pause the next goes at once again', async () => {
    const pieces: string[] = []
    const output = createCoalescer({ emit: (piece) => void pieces.push(piece) })
    await output.write('one')
    await timers.pass(50)
    await output.write('two')
    expect(pieces).toEqual(['one', 'two'])
  })

  test('a piece is full at 16 KiB of UTF-8, without waiting', async () => {
    const pieces: string[] = []
    const output = createCoalescer({ emit: (piece) => void pieces.push(piece) })
    await output.write('x')
    await output.write('日'.repeat(6000))
    expect(pieces.length).toBe(2)
    expect(Buffer.byteLength(pieces[1] ?? '')).toBe(16_383)
    await output.end()
    expect(pieces.join('')).toBe(`x${'日'.repeat(6000)}`)
  })

  test('the end does not wait, and leaves no timer', async () => {
    const pieces: string[] = []
    const output = createCoalescer({ emit: (piece) => void pieces.push(piece) })
    await output.write('one')
    await output.write('two')
    await output.end()
    expect(pieces).toEqual(['one', 'two'])
    expect(timers.set).toBe(0)
  })
})

describe('back-pressure', () => {
  test('a writer waits while the log is behind by more than is allowed', async () => {
    const log = slowLog()
    const output = createCoalescer({ emit: log.emit, pendingCharacters: 10 })
    await output.write('first')
    let went = false
    const waits = (async () => {
      await output.write('x'.repeat(11))
      went = true
    })()
    await timers.pass(50)
    expect(went).toBe(false)
    await log.takes()
    await waits
    expect(log.pieces).toEqual(['first', 'x'.repeat(11)])
  })

  test('pieces are recorded one at a time, in order', async () => {
    const log = slowLog()
    const output = createCoalescer({ emit: log.emit })
    await output.write('one')
    await output.write('two')
    await timers.pass(50)
    expect(log.pieces).toEqual(['one'])
    await log.takes()
    expect(log.pieces).toEqual(['one', 'two'])
  })

  test('a log that fails ends the stream with its error', async () => {
    const fault = new Error('The disk is full.')
    const output = createCoalescer({ emit: () => Promise.reject(fault) })
    await output.write('one').catch(() => undefined)
    await settled()
    await expect(output.write('two')).rejects.toBe(fault)
    await expect(output.end()).rejects.toBe(fault)
    expect(timers.set).toBe(0)
  })
})

test('what is recorded is what was printed, whatever the pieces and the pauses', async () => {
  const chunks = fc.array(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat({ max: 60 })), {
    maxLength: 30,
  })
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 64 }), async (some, pieceBytes) => {
      const pieces: string[] = []
      const output = createCoalescer({ emit: (piece) => void pieces.push(piece), pieceBytes })
      for (const [text, pause] of some) {
        await output.write(text)
        await timers.pass(pause)
      }
      await output.end()
      expect(pieces.join('')).toBe(some.map(([text]) => text).join(''))
      for (const piece of pieces) expect(Buffer.from(piece).toString()).toBe(piece)
    }),
    { numRuns: 50 },
  )
})

test('bytes that are cut inside a character or a secret are recorded whole and without it', async () => {
  const secret = 'übers3cret-größe'
  const bytes = Buffer.from(`日本 ${secret} 👩‍🚀\n`)
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const pieces: string[] = []
    const output = recordOutput({
      emit: (piece) => void pieces.push(piece),

      redaction: redactionOf([secret], textThreads()),
    })
    await output.write(bytes.subarray(0, cut))
    await output.write(bytes.subarray(cut))
    await output.end()
    expect(pieces.join('')).toBe('日本 [redacted] 👩‍🚀\n')
  }
})
