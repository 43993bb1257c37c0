import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { makeScene, testPath } from '../workspace/testScene.ts'
import { describeBox, processesOf } from './boxGuarantees.ts'
import { findTestBox } from './testBox.ts'

const { sandbox, note } = await findTestBox()

describeBox(`by bubblewrap${note}`, sandbox)

describe.skipIf(!sandbox)(`a server with a box${note}`, () => {
  test('that is killed on the spot takes its box with it', { timeout: 20_000 }, async () => {
    const scene = await makeScene({ 'README.md': '# Sample\n' })
    const workspace = await scene.prepare()
    const program = fileURLToPath(new URL('testServer.ts', import.meta.url))
    const args = ['--import', import.meta.resolve('tsx'), program, JSON.stringify(workspace)]
    const server = spawn(process.execPath, args, {
      env: { PATH: testPath },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => server.stdout.once('data', resolve))
    expect((await processesOf(workspace)).length).toBeGreaterThan(2)
    server.kill('SIGKILL')
    await expect.poll(() => processesOf(workspace), { timeout: 3_000 }).toEqual([])
    await scene.remove()
  })
})
