/** What the program writes to its own log, and what it leaves out. */
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { logDestination, logger } from './log.ts'

function logged(level: string, say: (log: ReturnType<typeof logger>) => void): readonly unknown[] {
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk))
      done()
    },
  })
  say(logger(level, { service: 'flightdeck-command' }, destination))
  return lines.map((line): unknown => JSON.parse(line))
}

test('each line is JSON with its time, its level, the process, and the ids that its child was made with', () => {
  const [line] = logged('info', (log) => log.child({ requestId: 'r1' }).info({ ms: 3 }, 'request'))
  expect(line).toEqual({
    level: 30,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    service: 'flightdeck-command',
    requestId: 'r1',
    ms: 3,
    msg: 'request',
  })
})

test('of a fault only what it is called, its sentence, code, stack and causes are told', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), {
    code: 'ECONNREFUSED',
    address: '127.0.0.1',
  })
  const fault = Object.assign(new TypeError('It did not work', { cause }), {
    request: { headers: { authorization: 'Bearer secret-1' } },
    response: { body: 'secret-2' },
  })
  const [line] = logged('debug', (log) => log.error({ err: fault }, 'failed'))
  expect(JSON.stringify(line)).not.toContain('secret')
  expect(line).toMatchObject({
    err: {
      type: 'TypeError',
      message: 'It did not work',
      stack: expect.stringContaining('log.test'),
      cause: { type: 'Error', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' },
    },
  })
  expect(logged('debug', (log) => log.error({ err: 'a word' }, 'failed'))).toMatchObject([
    { err: { type: 'string', message: 'a word' } },
  ])
})

test('a fault that is its own cause is told and ends', () => {
  const fault = new Error('Round')
  fault.cause = fault
  expect(logged('debug', (log) => log.error({ err: fault }, 'failed'))).toHaveLength(1)
})

test.skipIf(!existsSync('/dev/full'))(
  'a line that cannot be written ends nothing, and is written with the next one that can be',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'flightdeck-log-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'log')
    const out = logDestination('/dev/full')
    await once(out, 'ready')
    for (const code of ['EIO', 'ENOSPC'])
      expect(() => out.emit('error', Object.assign(new Error(code), { code }))).not.toThrow()
    const log = logger('info', {}, out)
    log.info('first')
    await once(out, 'error')
    // As when the process exits.
    out.flushSync()
    out.reopen(file)
    await once(out, 'ready')
    log.info('second')
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toMatch(/first.*\n.*second.*\n$/))
  },
)
