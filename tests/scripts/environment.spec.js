/** What of the shell's environment reaches a test. */
import { expect, test } from 'vitest'
import { testEnvironment } from '../../scripts/environment.js'
import { run } from '../../scripts/run.js'

const files = { tally: '/tmp/tally', notes: '/tmp/notes' }
const shell = {
  PATH: process.env.PATH,
  HOME: '/home/ada',
  LANG: 'C.UTF-8',
  CI: 'true',
  REQUIRE_CONTAINERS: '1',
  ANTHROPIC_API_KEY: 'a key',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
  CURSOR_API_KEY: 'a key',
  GITHUB_TOKEN: 'a token',
  IS_SANDBOX: '1',
  MASTER_KEY: 'a key',
  PORT: '9',
}

test('a child of a test run gets what is named, and no key or setting of the shell', async () => {
  const print = ['-e', 'console.log(Object.keys(process.env).sort().join(" "))']
  const env = testEnvironment(shell, files)
  const child = await run(process.execPath, print, { cwd: '/', env, limit: 10_000, output: 'keep' })
  expect(child).toMatchObject({ ok: true })
  expect(child.output.trim().split(' ')).toEqual([
    'CI',
    'FLIGHTDECK_TEST_NOTES',
    'FLIGHTDECK_TEST_TALLY',
    'HOME',
    'LANG',
    'PATH',
    'REQUIRE_CONTAINERS',
  ])
})
