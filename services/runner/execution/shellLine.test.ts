import { spawn, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { shellLine } from './shellLine.ts'

const path = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }

function ran(line: string) {
  const { command, env } = shellLine(line)
  const [program, ...args] = command
  const { stdout, stderr, status } = spawnSync(program, args, {
    env: { ...path, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { stdout, stderr, status }
}

// Holds findings 1.65.
test('finding low: a command is in no list of processes', async () => {
  const { command, env } = shellLine('password=hunter2hunter2; echo begun; read -r')
  const [program, ...args] = command
  const child = spawn(program, args, { env: { ...path, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  expect(spawnSync('ps', ['-eo', 'args'], { env: path, encoding: 'utf8' }).stdout).not.toContain(
    'hunter2hunter2',
  )
  child.stdin.end('\n')
  await new Promise((resolve) => child.once('close', resolve))
})

test('a line of shell is as it was written: its lines, its quotes, its end', () => {
  expect(ran('echo "$#" "${FLIGHTDECK_COMMAND-none}" \'$1\'')).toMatchObject({ stdout: '0 none $1\n' })
  expect(ran('# nothing\ncat <<END\n"it\'s" $((1 + 1))\nEND\nexit 7')).toMatchObject({
    stdout: '"it\'s" 2\n',
    status: 7,
  })
  expect(ran('false').status).toBe(1)
  expect(ran('')).toEqual({ stdout: '', stderr: '', status: 0 })
  expect(ran('if').status).not.toBe(0)
})
