/** A signal to npm reaches the server itself, with the start script of package.json. */
import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** A program that drains for a moment, as the server does, and exits with 0. */
const server = `
process.once('SIGTERM', () => setTimeout(() => { console.log('drained'); process.exit(0) }, 200))
setInterval(() => {}, 1000)
console.log('ready')
`

test('SIGTERM to `npm start` drains the server, and npm waits for it and exits with 0', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-signals-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  mkdirSync(join(folder, 'scripts'))
  writeFileSync(join(folder, 'scripts/start.js'), server)

  const env = { PATH: process.env.PATH, HOME: folder, npm_config_update_notifier: 'false' }
  const npm = spawn('npm', ['start'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  onTestFinished(() => {
    // Where the test fails, the server is still there, in npm's process group.
    if (npm.exitCode === null && npm.pid !== undefined) process.kill(-npm.pid, 'SIGKILL')
  })
  let printed = ''
  npm.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text
    if (text.includes('ready')) npm.kill('SIGTERM')
  })
  const code = await new Promise((resolve) => npm.once('close', resolve))
  expect(printed).toContain('drained')
  expect(code).toBe(0)
}, 20_000)
