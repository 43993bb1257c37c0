import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { firstProcess } from './init.ts'

const [perl = ''] = firstProcess('', '', 0)

test.skipIf(!existsSync(perl))(
  'the first process of a container ends where its runner died before it began',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'flightdeck-first-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const pipes = ['line', 'answers'].map((name) => join(folder, name))
    execFileSync('mkfifo', pipes)
    const [line = '', answers = ''] = pipes
    const [program = '', ...args] = firstProcess(line, answers, 0)
    const ended = spawnSync(program, [...args, 'true'], {
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: 10_000,
    })
    expect(ended).toMatchObject({ status: 125, signal: null })
  },
)
