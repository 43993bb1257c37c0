/** A small disk that was filled to its last byte by something other than a run, and a command that fills the rest of it. */
import { rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getChat, sendMessage } from '#domain/api/chat.schema.ts'
import { updateProfile } from '#domain/api/auth.schema.ts'
import { createTask, deleteTask, executeTask, listTasks } from '#domain/api/tasks.schema.ts'
import { loopDisk } from '../../server/loopDisk.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'
import { fillUp, neighbour, turns, worksOn } from '../../hostile/diskFiller.ts'

const disk = await loopDisk(400)
const missing = typeof disk === 'string' ? disk : undefined
// The long tests have a disk of 3 GB, the usual floor, and every way to fill it.
const floor = { MIN_FREE_DISK_GB: '0.25', WARM_AGENTS: '0' }

describe.skipIf(missing !== undefined)(`a small disk${missing === undefined ? '' : ` (${missing})`}`, () => {
  let scene: Scene
  let other: Awaited<ReturnType<typeof neighbour>>
  const folder = typeof disk === 'string' ? '' : disk.folder
  beforeAll(async () => {
    scene = await openScene(turns, { dataDir: join(folder, 'data'), env: floor })
    other = await neighbour(scene)
  })
  afterAll(async () => {
    await scene?.close()
    if (typeof disk !== 'string') await disk.close()
  })

  const ready = async () => {
    const answer = await fetch(`${scene.product.base}/readyz`)
    return { status: answer.status, body: await answer.json() }
  }

  // Holds findings 1.70.
  test('security H2: the run that fills it ends with the reason, and another person goes on', async () => {
    const { ada, projectId } = scene
    const { id } = await ada.task(projectId, 'Begin')
    await ada.taskOnce(id, hasEnded)
    const params = { taskId: id }
    // No faster than a busy machine looks at the disk.
    const command = 'while :; do n=$((n + 1)); head -c 3000000 /dev/zero > "fill.$n"; sleep 0.05; done'
    await ada.ask(executeTask, { params, body: { command } })
    await ada.taskOnce(id, (task) => hasEnded(task) && task.execution?.turn === 2)
    expect((await ada.ask(getChat, { params })).messages.at(-1)).toMatchObject({
      commandStatus: 'failed',
      response: expect.stringContaining("filled the server's disk"),
    })
    await worksOn(scene, other)
    await ada.ask(deleteTask, { params })
  })

  // Holds findings 1.72.
  test('security H2: filled to the last byte, it takes deletions, sign-ins and a start, and nothing new until there is room', async () => {
    const { product, ada, projectId } = scene
    const { person, taskId } = other
    const { id } = await ada.task(projectId, 'Begin')
    await ada.taskOnce(id, hasEnded)
    const ballast = join(product.dataDir, 'ballast')
    const hasBallast = () =>
      readFile(ballast).then(
        () => true,
        () => false,
      )
    await expect.poll(hasBallast).toBe(true)
    const filler = join(folder, 'filler')
    await fillUp(filler)
    await expect.poll(hasBallast).toBe(false)

    const full = { status: 507, code: 'disk_full' }
    const isRefused = async () => {
      const body = { projectId, description: 'Begin', branch: 'main', agent: 'claude' } as const
      expect(await ada.refused(createTask, { body })).toMatchObject(full)
      expect(
        await person.refused(sendMessage, { params: { taskId }, body: { message: 'Begin' } }),
      ).toMatchObject(full)
      expect(await ready()).toMatchObject({
        status: 503,
        body: { parts: { disk: false }, details: { disk: [expect.stringContaining('is full')] } },
      })
    }
    await isRefused()
    await product.signIn('grace')
    await person.ask(updateProfile, { body: { fullName: 'Grace Hopper' } })

    await product.kill9()
    await product.restart()
    await isRefused()
    await ada.ask(deleteTask, { params: { taskId: id } })
    expect((await ada.ask(listTasks)).tasks).toEqual([])

    rmSync(filler)
    await expect.poll(async () => (await ready()).status).toBe(200)
    await expect.poll(hasBallast).toBe(true)
    await worksOn(scene, other)
  })

  test('security H2: filled while it did not run, it starts', async () => {
    const { product, ada } = scene
    await product.terminate()
    const filler = join(folder, 'filler')
    await fillUp(filler)
    await product.restart()
    expect((await ada.ask(listTasks)).tasks).toEqual([])
    expect(await ready()).toMatchObject({ status: 503 })
    rmSync(filler)
    await expect.poll(async () => (await ready()).status).toBe(200)
  })
})
