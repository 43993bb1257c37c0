/** The log's own stream is damaged in a whole product: the product starts and works, does not seal, and can be repaired. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { executeTask } from '#domain/api/tasks.schema.ts'
import { logStream } from '#domain/kernel/streams.ts'
import { ownFolder, runProduct } from '../../product.ts'
import { cutShort, operateOn, operatorEnv, readyz } from '../../server/damaging.ts'
import { eventually } from '../../server/engines.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const withinMs = 60_000
let scene: Scene
let folder = ''
beforeAll(async () => {
  folder = await ownFolder()
  scene = await openScene([{ turns: [{ text: 'Answered.' }] }])
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

// Holds findings 1.78.
test(
  'recorder C1: with its own stream damaged the log is not sealed, and all else of the product and its commands works',
  { timeout: 300_000 },
  async () => {
    const { product, ada, projectId } = scene
    const operate = (...words: readonly string[]) => operateOn(product, ...words)
    const { id: whole } = await ada.task(projectId, 'Answer')
    await ada.taskOnce(whole, hasEnded)
    await product.terminate()
    const putBack = cutShort(product, logStream, 0)
    const why = 'Event 0 of log-main (LogBegun) is not JSON: what is stored was damaged.'
    await product.restart()
    await eventually(
      'the operator is told',
      async () => (await readyz(product)).text.includes(`The log is not sealed. ${why}`),
      withinMs,
    )
    expect((await readyz(product)).status).toBe(200)
    expect(product.logs.stderr).toContain(`The log is not sealed. ${why}`)
    await ada.ask(executeTask, { params: { taskId: whole }, body: { command: 'true' } })
    await ada.taskOnce(whole, (now) => hasEnded(now) && now.execution?.turn === 2)
    expect((await ada.api('GET', `/tasks/${whole}/history`)).status).toBe(200)
    expect((await operate('quarantine')).stdout).toMatch(/^log-main {2}event 0 \(LogBegun\) is not JSON/)
    expect(await operate('key')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/flightdeck\.dev\/log/),
    })
    const copied = await operate('backup', join(folder, 'beginningless'), '--with-key')
    expect(copied).toMatchObject({ code: 1, stdout: expect.stringContaining('log-main @ 0 is not JSON') })
    const restored = await runProduct(operatorEnv, [
      'restore',
      join(folder, 'beginningless'),
      '--data',
      join(folder, 'new'),
    ])
    expect(restored).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Event 0 of log-main .* older backup/),
    })

    await product.terminate()
    const verified = await operate('verify')
    expect(verified.code).toBe(1)
    expect(verified.stdout).toContain('log-main @ 0 is not JSON')
    expect(verified.stdout.split('\n').filter((line) => / @ \d+ /.test(line))).toHaveLength(1)
    expect(verified.stdout).toMatch(/The log is not whole: \d+ events .* \d+ seals hold/)

    putBack()
    expect(await operate('quarantine', 'release', logStream)).toMatchObject({ code: 0 })
    await product.restart()
    await eventually(
      'it is sealed again',
      async () => !(await readyz(product)).text.includes('not sealed'),
      withinMs,
    )
    await product.terminate()
    expect((await operate('verify')).stdout).toMatch(/^The log is whole/)
    await product.restart()
  },
)
