/** The end of a child process that a script starts: no process of it is left. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { run } from '../../scripts/run.js'

const env = { PATH: process.env.PATH }

/**
 * @param {string} script
 * @param {number} [limit]
 */
const node = (script, limit = 10_000) =>
  run(process.execPath, ['-e', script], { cwd: '/', env, limit, output: 'keep' })

test('what a child prints is kept, on both streams', async () => {
  const ended = await node('console.log("out"); console.error("err")')
  expect(ended).toMatchObject({ ok: true, why: '' })
  expect(ended.output).toContain('out\n')
  expect(ended.output).toContain('err\n')
})

test('a failure is told with its exit code', async () => {
  expect(await node('process.exit(3)')).toMatchObject({ ok: false, why: 'ended with exit code 3' })
})

test('a program that is not there is told of', async () => {
  const ended = await run('no-such-program', [], { cwd: '/', env, limit: 10_000, output: 'keep' })
  expect(ended.why).toMatch(/could not be started .*ENOENT/)
})

test('a child that takes too long is ended, with what it started', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-run-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'pid')
  const grandchild = `require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1000)`
  const child = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}], { stdio: 'inherit' }); setInterval(() => {}, 1000)`
  const ended = await node(child, 1_000)
  expect(ended).toMatchObject({ ok: false, why: 'took longer than 1 s' })
  expect(existsSync(file)).toBe(true)
  const pid = Number(readFileSync(file, 'utf8'))
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 5_000)
})

test('a signal ends all that runs, the slow ones too, and nothing is begun after it', async () => {
  const slow = `process.once('SIGTERM', () => setTimeout(process.exit, 300)); setInterval(() => {}, 1000); console.log(process.pid)`
  const quick = `setInterval(() => {}, 1000); console.log(process.pid)`
  const parent = `import { run } from ${JSON.stringify(new URL('../../scripts/run.js', import.meta.url))}
    const begin = (script) => run(process.execPath, ['-e', script], { cwd: '/', env: {}, limit: 10_000, output: 'show' })
    begin(${JSON.stringify(slow)})
    await begin(${JSON.stringify(quick)})
    console.log('went on')`
  const script = spawn(process.execPath, ['--input-type=module', '-e', parent], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void script.kill('SIGKILL'))
  let printed = ''
  script.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text
  })
  await vi.waitFor(() => expect(printed).toMatch(/^\d+\n\d+\n$/), 10_000)
  script.kill('SIGTERM')
  expect(await new Promise((resolve) => script.once('exit', resolve))).toBe(143)
  expect(printed).not.toContain('went on')
  for (const pid of printed.trim().split('\n').map(Number))
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test('a child that is nice, and all that it starts, lets others go before it', async () => {
  const print = ['-c', 'nice; sh -c nice']
  const child = await run('sh', print, {
    cwd: '/',
    env: { PATH: process.env.PATH },
    limit: 10_000,
    output: 'keep',
    nice: 5,
  })
  const ours = getPriority()
  expect(child.output.trim().split('\n').map(Number)).toEqual([ours + 5, ours + 5])
})
