/** The recording of a shell, with a program whose output and end the test decides. */
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { idleShellMs, longestShellMs } from '#domain/task/shells.ts'
import type { TerminalEvent } from '#domain/task/terminalEvents.ts'
import { logger } from '#platform/log.ts'
import { executionId, taskId } from '../../../tests/domain/ids.ts'
import { Evicted } from '../execution/failure.ts'
import { redactionOf } from '../redaction/redaction.ts'
import type { Program, ProgramEnd, ProgramExit, TerminalSize } from '../sandbox/program.ts'
import { recordShell } from './recordedShell.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const secret = 'r3ndezvous/Key+9=!'

function openShell({ mostBytes = 1_000_000, append }: Given = {}) {
  const stdout = new PassThrough()
  const stdin = new PassThrough({ highWaterMark: 4 })
  const sizes: TerminalSize[] = []
  let settle: (exit: ProgramExit) => void = () => undefined
  const exited = new Promise<ProgramExit>((resolve) => (settle = resolve))
  const endBy = (reason: ProgramEnd) => {
    stdout.end()
    settle({ code: reason === 'itself' ? 0 : null, reason })
  }
  const kill = vi.fn<() => void>(() => endBy('killed'))
  const program: Program = {
    stdin,
    stdout,
    stderr: new PassThrough(),
    exited,
    kill,
    resize: (size) => void sizes.push(size),
  }
  const events: TerminalEvent[] = []
  const shell = recordShell(
    {
      terminals: { append: append ?? (async (_, event) => void events.push(event)) },
      allowance: {
        bytes: () => mostBytes,
        spend: () => undefined,
        reason: () => '',
        settled: async () => {},
      },
      redaction: redactionOf([secret], {
        run: () => Promise.reject(new Error('Everything here is short.')),
        close: async () => undefined,
      }),
      logger: logger('silent'),
    },
    { taskId: taskId(1), shellId: executionId(1), program, size: { rows: 24, columns: 80 } },
  )
  const text = () => events.map(({ content }) => content.text).join('')
  const ends = () =>
    events.flatMap(({ data }) => ('ended' in data && data.ended !== null ? [data.ended] : []))
  return { shell, stdin, stdout, settle, endBy, kill, sizes, events, text, ends }
}
interface Given {
  readonly mostBytes?: number
  readonly append?: () => Promise<void>
}

test('what is printed is recorded with the size of the terminal, and then the end', async () => {
  const { shell, stdout, endBy, sizes, events, text } = openShell()
  stdout.write('one ')
  await vi.waitFor(() => expect(text()).toBe('one '))
  shell.resize({ rows: 50, columns: 132 })
  stdout.write('two')
  await vi.waitFor(() => expect(text()).toBe('one two'))
  endBy('itself')
  await shell.ended
  expect(text()).toBe('one two\r\n[The shell has exited.]\r\n')
  expect(events.map(({ data }) => data)).toMatchObject([
    { rows: 24, columns: 80, ended: null },
    { rows: 50, columns: 132, ended: null },
    { rows: 50, columns: 132, ended: 'exited' },
  ])
  expect(sizes).toEqual([{ rows: 50, columns: 132 }])
})

// Attacks shell: a secret is printed slowly, or in pieces, to get into the record.
test('a secret is never recorded, however slowly and in which pieces it is printed', async () => {
  const { shell, stdout, endBy, text } = openShell()
  stdout.write(`whole ${secret} end\r\n`)
  for (const character of `slow ${secret} end\r\n`) {
    stdout.write(character)
    await vi.advanceTimersByTimeAsync(200)
  }
  for (const part of ['cut ', secret.slice(0, 7), secret.slice(7, 8), `${secret.slice(8)} end`]) {
    stdout.write(part)
    await vi.advanceTimersByTimeAsync(200)
  }
  endBy('itself')
  await shell.ended
  expect(text()).toContain('whole [redacted] end\r\n')
  expect(text()).toContain('cut [redacted] end')
  expect(text()).not.toContain(secret.slice(3))
  // At most three characters of it are shown while it is typed.
  expect(text()).toContain(`slow ${secret.slice(0, 3)}[redacted] end`)
})

test('a character that could begin a secret is shown soon, though nothing follows', async () => {
  const { shell, stdout, endBy, text } = openShell()
  stdout.write('r')
  await vi.advanceTimersByTimeAsync(200)
  expect(text()).toBe('r')
  endBy('itself')
  await shell.ended
})

// Attacks shell: a shell is left open.
test('without input it ends after an hour, and input puts that off', async () => {
  const { shell, ends, kill } = openShell()
  await vi.advanceTimersByTimeAsync(idleShellMs - 1_000)
  await shell.input(Buffer.from('l'))
  await vi.advanceTimersByTimeAsync(idleShellMs - 1_000)
  expect(kill).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1_000)
  await shell.ended
  expect(ends()).toEqual(['idle'])
})

// Attacks shell: a shell is kept open for a day by typing now and then.
test('a shell left open for a day ends after 8 hours, however much is typed', async () => {
  const { shell, stdin, ends, text } = openShell()
  stdin.resume()
  const begun = Date.now()
  for (let passed = 0; passed < longestShellMs && !shell.isOver(); passed += idleShellMs / 2) {
    await shell.input(Buffer.from('l'))
    await vi.advanceTimersByTimeAsync(idleShellMs / 2)
  }
  await shell.ended
  expect(ends()).toEqual(['too_long'])
  expect(text()).toContain('[The shell was closed after 8 hours.]')
  expect(Date.now() - begun).toBeLessThan(60_000)
})

// Attacks shell: a shell prints without end to fill the log.
test('a shell that prints without end is ended where commands are cut, and says why', async () => {
  const { shell, stdout, events, ends, text } = openShell({ mostBytes: 50_000 })
  while (!shell.isOver()) {
    if (!stdout.write('y\r\n'.repeat(1_000))) await once(stdout, 'drain')
    await vi.advanceTimersByTimeAsync(100)
  }
  await shell.ended
  expect(ends()).toEqual(['output_limit'])
  expect(text()).toContain('[The shell was closed because it printed as much as may be recorded of it.]')
  expect(Buffer.byteLength(text())).toBeLessThan(51_000)
  expect(events.length).toBeLessThan(100)
})

test.each([
  ['sandbox_ended', 'lost'],
  ['exited', 'itself'],
] as const)('the end says %s when the program ended by %s', async (ended, reason) => {
  const { shell, endBy, ends } = openShell()
  endBy(reason)
  await shell.ended
  expect(ends()).toEqual([ended])
  expect(shell.isOver()).toBe(true)
})

test('it has the first reason for its end, and takes no more input', async () => {
  const { shell, ends } = openShell()
  shell.end('closed')
  shell.end('stopped')
  expect(shell.isOver()).toBe(true)
  await shell.ended
  expect(ends()).toEqual(['closed'])
})

// Attacks shell: an agent holds the output of a shell open, so that the shell never ends.
test('a shell that is closed ends, though another process holds its output open', async () => {
  const { shell, stdout, settle, kill, ends } = openShell()
  kill.mockImplementation(() => settle({ code: null, reason: 'killed' }))
  stdout.write('held')
  shell.end('closed')
  await vi.advanceTimersByTimeAsync(2_000)
  await shell.ended
  expect(ends()).toEqual(['closed'])
})

test('input waits until the program takes it, or has ended', async () => {
  const { shell, stdin } = openShell()
  const taken = shell.input(Buffer.from('more than fits'))
  stdin.resume()
  await taken
  stdin.pause()
  const waits = shell.input(Buffer.from('more than fits'))
  shell.end('closed')
  await expect(waits).resolves.toBeUndefined()
  await shell.ended
})

// Attacks shell: a shell goes on after its record has failed.
test('a shell that can no longer be recorded is ended', async () => {
  const { shell, stdout, kill } = openShell({
    append: () => Promise.reject(new Evicted('Another runner writes here.')),
  })
  stdout.write('x')
  await shell.ended
  expect(kill).toHaveBeenCalled()
  expect(shell.isOver()).toBe(true)
})
