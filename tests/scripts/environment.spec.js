/** Which parts of the shell's environment reach a test. */
import { expect, test } from 'vitest'
import { goEnvironment, installEnvironment, testEnvironment } from '../../scripts/environment.js'
import { run } from '../../scripts/run.js'

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
  const env = testEnvironment(shell, '/tmp/notes')
  const child = await run(process.execPath, print, { cwd: '/', env, limit: 10_000, output: 'keep' })
  expect(child).toMatchObject({ ok: true })
  expect(child.output.trim().split(' ')).toEqual([
    'CI',
    'FLIGHTDECK_TEST_NOTES',
    'HOME',
    'LANG',
    'PATH',
    'REQUIRE_CONTAINERS',
  ])
})

// Holds findings 1.61.
test('finding low: installers get their own settings, and no key of the product', () => {
  const settings = { npm_config_registry: 'x', HTTPS_PROXY: 'x', https_proxy: 'x', NODE_EXTRA_CA_CERTS: 'x' }
  const env = installEnvironment({ ...shell, ...settings, MONGODB_URL: 'a password' })
  expect(Object.keys(env).toSorted()).toEqual(
    ['CI', 'HOME', 'LANG', 'PATH', ...Object.keys(settings)].toSorted(),
  )
})

// Holds findings 1.62.
test('finding low: what builds with Go gets the settings of Go beside, and no key of the product', () => {
  const env = goEnvironment({
    ...shell,
    GOPROXY: 'x',
    GOPATH: 'x',
    CGO_ENABLED: '0',
    GOOGLE_API_KEY: 'a key',
  })
  expect(Object.keys(env).toSorted()).toEqual([
    'CGO_ENABLED',
    'CI',
    'GOPATH',
    'GOPROXY',
    'HOME',
    'LANG',
    'PATH',
  ])
})
