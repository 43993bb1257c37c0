import { describe, expect, test } from 'vitest'
import { redactionOf } from '../../redaction/redaction.ts'
import { serviceLog } from './serviceLog.ts'

const unused = async (): Promise<never> => {
  throw new Error('So short a text needs no thread.')
}
function logOf(
  limits = { inTurn: 100, kept: 60, paceMs: 0 },
  secrets: readonly string[] = ['swordfish-one\nswordfish-two'],
) {
  const redaction = redactionOf(secrets, { run: unused, close: unused })
  const log = serviceLog('web', limits)
  const recorded: string[] = []
  return {
    ...log,
    recorded,
    begin: () => log.beginTurn(async (text) => void recorded.push(text)),
    print: (...chunks: readonly string[]) =>
      log.drain(
        (async function* () {
          for (const chunk of chunks) yield Buffer.from(chunk)
        })(),
        redaction,
      ),
  }
}

describe('the log of a service', () => {
  test('has no line that is longer than 4,096 characters, however it arrives', async () => {
    const { begin, print, recorded } = logOf({ inTurn: 100_000, kept: 60, paceMs: 0 })
    await begin()
    const long = 'x'.repeat(10_000)
    await print(`${long}\n`, `${long}`, '\nshort\n')
    const lengths = recorded
      .join('')
      .split('\n')
      .map((line) => line.length - '[web] '.length)
    expect(lengths).toEqual([4_096, 4_096, 1_808, 4_096, 4_096, 1_808, 5, -6])
  })

  // Attacks services: a service prints what moves a terminal's cursor, or pretends to be another one.
  test('has its name before each line, however the output is cut, and nothing that moves the cursor', async () => {
    const { begin, print, recorded } = logOf()
    await begin()
    await print('on', 'e\ntw', 'o\u001B[2J\r\nthree')
    expect(recorded.join('')).toBe('[web] one\n[web] two\n[web] three\n')
  })

  // Attacks services: a service prints a secret, in parts.
  test('shows no secret, not even one of several lines', async () => {
    const { begin, print, recorded } = logOf()
    await begin()
    await print('key swordfish-one\nsword', 'fish-two end\n')
    expect(recorded.join('')).not.toMatch(/swordfish|fish-two/)
    expect(recorded.join('')).toMatch(/^\[web\] key .*end\n$/)
  })

  // Attacks services: a service prints a secret with colours or other control characters in the middle of it.
  test.each([
    'sword\u001B[1;31mfish-one\u001B[0m',
    'sword\rfish-one',
    'sword\u0007fish-one',
    'sword\u001B[Kfish-one',
  ])('shows no secret that only its own cleaning puts together: %j', async (printed) => {
    const { begin, print, recorded, last } = logOf(undefined, ['swordfish-one'])
    await begin()
    await print(`key ${printed} end\n`)
    expect(recorded.join('')).toBe('[web] key [redacted] end\n')
    expect(last()).toBe('key [redacted] end')
  })

  test('comes between turns with the next one: the last whole lines', async () => {
    const { begin, endTurn, print, recorded } = logOf()
    await begin()
    endTurn()
    await print('dropped\n', ...Array.from({ length: 5 }, (_, at) => `line ${at}\n`))
    expect(recorded).toEqual([])
    await begin()
    expect(recorded.join('')).toBe(
      '[web] Earlier lines are left out.\n[web] line 1\n[web] line 2\n[web] line 3\n[web] line 4\n',
    )
    await print('now\n')
    expect(recorded.at(-1)).toBe('[web] now\n')
  })

  // Attacks services: a service prints without end.
  test('of a flood is cut in a turn, and said once', async () => {
    const { begin, print, recorded, last } = logOf()
    await begin()
    await print(...Array.from({ length: 50 }, (_, at) => `line ${at}\n`))
    const text = recorded.join('')
    expect(text.length).toBeLessThan(200)
    expect(text.split('It prints much')).toHaveLength(2)
    expect(last()).toContain('line 49')
    recorded.length = 0
    await begin()
    expect(recorded.join('')).toMatch(/line 49\n$/)
  })

  test('is read on when a turn can no longer record', async () => {
    const log = serviceLog('web', { inTurn: 100, kept: 60, paceMs: 0 })
    await log.beginTurn(async () => {
      throw new Error('Another runner writes to this terminal.')
    })
    await log.say('one')
    log.endTurn()
    await log.say('two')
    const recorded: string[] = []
    await log.beginTurn(async (text) => void recorded.push(text))
    expect(recorded.join('')).toBe('[web] two\n')
  })
})
