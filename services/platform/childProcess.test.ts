import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { CannotStart, run, spawnProcess } from './childProcess.ts'

const env = { PATH: '/usr/bin:/bin' }
const bounds = { env, timeoutMs: 10_000, maxOutputBytes: 1_000_000 }

describe('running a child', () => {
  test('gives its output, its code and nothing of our environment', async () => {
    const finished = await run('sh', ['-c', 'env; echo told >&2; exit 3'], {
      ...bounds,
      env: { ...env, OWN: '1' },
    })
    expect(finished).toMatchObject({ code: 3, signal: null, endedBy: 'itself' })
    expect(finished.stderr.toString()).toBe('told\n')
    const names = finished.stdout
      .toString()
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0])
    expect(names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name ?? '')).sort()).toEqual([
      'OWN',
      'PATH',
    ])
  })

  test('passes arguments and input unread by any shell', async () => {
    const finished = await run('sh', ['-c', 'cat; printf %s "$1"', 'sh', '$(id) `id`; "'], {
      ...bounds,
      input: 'in ',
    })
    expect(finished.stdout.toString()).toBe('in $(id) `id`; "')
  })

  test('gives what it should read from further descriptors', async () => {
    const finished = await run('sh', ['-c', 'cat <&4; cat <&3'], {
      ...bounds,
      extraInputs: ['three', 'four '],
    })
    expect(finished.stdout.toString()).toBe('four three')
  })

  test('kills the whole group when its time is up', async () => {
    const finished = await run('sh', ['-c', 'sleep 60 & echo $!; wait'], { ...bounds, timeoutMs: 1_000 })
    expect(finished).toMatchObject({ signal: 'SIGKILL', endedBy: 'time_limit' })
    await expectGone(Number(finished.stdout.toString()))
  })

  test('asks before it kills, where there is time for that', async () => {
    const graceful = await run('sh', ['-c', 'trap "exit 7" TERM; while :; do sleep 0.05; done'], {
      ...bounds,
      timeoutMs: 1_000,
      graceMs: 60_000,
    })
    expect(graceful).toMatchObject({ code: 7, endedBy: 'time_limit' })
    const deaf = await run('sh', ['-c', 'trap "" TERM; while :; do sleep 0.05; done'], {
      ...bounds,
      timeoutMs: 1_000,
      graceMs: 300,
    })
    expect(deaf).toMatchObject({ signal: 'SIGKILL', endedBy: 'time_limit' })
  })

  test('kills what is left of the group after the time for ending, even when the child itself has ended', async () => {
    const deaf = `trap "" TERM; echo $$; while :; do sleep 0.05; done`
    let printed = ''
    const finished = await run('sh', ['-c', `trap "exit 7" TERM; sh -c '${deaf}' & wait`], {
      ...bounds,
      graceMs: 300,
      onStdout: (chunk) => ((printed += chunk.toString()).endsWith('\n') ? 'enough' : 'more'),
    })
    expect(finished).toMatchObject({ code: 7, endedBy: 'reader' })
    await expectGone(Number(printed))
  })

  test('keeps the end of a long stderr, where that is asked for', async () => {
    const finished = await run('sh', ['-c', 'seq 100000 >&2; printf last >&2'], {
      ...bounds,
      maxOutputBytes: 10,
      stderrTailBytes: 6,
    })
    expect(finished).toMatchObject({ code: 0, endedBy: 'itself' })
    expect(finished.stderr.toString()).toBe('0\nlast')
  })

  test('ends a child that prints too much, and keeps what is allowed', async () => {
    const finished = await run('sh', ['-c', 'while :; do echo 0123456789; done'], {
      ...bounds,
      maxOutputBytes: 100,
    })
    expect(finished.endedBy).toBe('output_limit')
    expect(finished.stdout).toHaveLength(100)
  })

  test('ends when it is told to', async () => {
    const controller = new AbortController()
    const running = run('sleep', ['60'], { ...bounds, signal: controller.signal })
    controller.abort()
    expect((await running).endedBy).toBe('aborted')
    expect((await run('sleep', ['60'], { ...bounds, signal: controller.signal })).endedBy).toBe('aborted')
  })

  test('ends a child whose reader has enough', async () => {
    let lines = 0
    const onStdout = () => (++lines > 2 ? ('enough' as const) : ('more' as const))
    const finished = await run('sh', ['-c', 'while :; do echo line; sleep 0.01; done'], {
      ...bounds,
      onStdout,
    })
    expect(finished.endedBy).toBe('reader')
    expect(lines).toBe(3)
  })

  test('says so when there is no such program', async () => {
    await expect(run('no-such-program', [], bounds)).rejects.toThrow(CannotStart)
  })

  test('does not fall over a child that never reads its input', async () => {
    const finished = await run('true', [], { ...bounds, input: 'x'.repeat(5_000_000) })
    expect(finished.code).toBe(0)
  })
})

test('a child waits while nobody reads what it prints', async () => {
  const child = spawnProcess('yes', [], { env, stdin: 'ignore' })
  // As much as a pipe takes.
  await expect.poll(() => writtenBy(child.pid)).toBeGreaterThanOrEqual(65_536)
  await delay(100)
  const before = await writtenBy(child.pid)
  await delay(200)
  expect(await writtenBy(child.pid)).toBe(before)
  child.signalGroup('SIGKILL')
  expect((await child.exited).signal).toBe('SIGKILL')
})

async function writtenBy(pid: number): Promise<number> {
  return Number(/wchar: (\d+)/.exec(await readFile(`/proc/${pid}/io`, 'utf8'))?.[1])
}

async function expectGone(pid: number): Promise<void> {
  await expect.poll(() => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => 'gone')).toMatch(/gone|\) Z /)
}
