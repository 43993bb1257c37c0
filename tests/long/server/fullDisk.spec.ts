/**
 * A data folder without space: writes are refused in a sentence and leave nothing behind, reads go on, and everything else continues once there is
 * space.
 */
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getChat, sendMessage } from '#domain/api/chat.schema.ts'
import { FaultAnswer } from '#domain/api/fields.schema.ts'
import { uploadImage } from '#domain/api/images.schema.ts'
import { listTasks } from '#domain/api/tasks.schema.ts'
import { cleanEnvironment, ownFolder, runProduct } from '../../product.ts'
import { changeSomething } from '../../server/apartScene.ts'
import { fillUp } from '../../hostile/diskFiller.ts'
import { picture } from '../../server/pictures.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const megabytes = 96

/** A file system of its own, which takes root to make; the reason why there is none. */
async function smallDisk(): Promise<{ readonly folder: string; close(): Promise<void> } | string> {
  const folder = await ownFolder()
  const disk = join(folder, 'disk')
  const remove = () => rm(folder, { recursive: true, force: true })
  await mkdir(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=711`, 'tmpfs', disk], {
      stdio: 'pipe',
    })
  } catch {
    await remove()
    return 'no file system can be mounted here'
  }
  return {
    folder: disk,
    close: async () => {
      execFileSync('umount', ['-l', disk])
      await remove()
    },
  }
}

const disk = await smallDisk()
const missing = typeof disk === 'string' ? disk : undefined

describe.skipIf(missing !== undefined)(`a full disk${missing === undefined ? '' : ` (${missing})`}`, () => {
  let scene: Scene
  let dataDir = ''
  let png: Buffer
  beforeAll(async () => {
    if (typeof disk === 'string') return
    dataDir = join(disk.folder, 'data')
    png = await picture('image/png', 600, 400)
    scene = await openScene([changeSomething], {
      dataDir,
      env: { MIN_FREE_DISK_GB: '0.001', WARM_AGENTS: '0' },
    })
  })
  afterAll(async () => {
    await scene?.close()
    if (typeof disk !== 'string') await disk.close()
  })

  const ready = async () => {
    const answer = await fetch(`${scene.product.base}/readyz`)
    return { status: answer.status, body: await answer.json() }
  }
  const upload = () => {
    const body = new FormData()
    body.set('image', new File([new Uint8Array(png)], 'plan.png'))
    const headers = { authorization: `Bearer ${scene.ada.token}` }
    return fetch(`${scene.product.base}/api${uploadImage.path}`, { method: 'POST', headers, body })
  }
  const blobFiles = async () =>
    (await readdir(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .toSorted()

  test('refuses what would be written, leaves nothing half-written, and goes on when there is space', async () => {
    const { ada, projectId, product } = scene
    const { id } = await ada.task(projectId, 'Change something')
    await ada.taskOnce(id, hasEnded)
    const params = { taskId: id }
    const { messages } = await ada.ask(getChat, { params })
    const blobs = await blobFiles()
    expect(await ready()).toMatchObject({ status: 200 })

    const filler = join(dataDir, 'filler')
    await fillUp(filler)
    const full = { status: 507, code: 'disk_full', error: expect.stringMatching(/disk is full.*\.$/) }
    const message = { message: 'Change something' }
    expect(await ada.refused(sendMessage, { params, body: message })).toMatchObject(full)
    const headers = { 'idempotency-key': 'again' }
    expect(await ada.refused(sendMessage, { params, body: message, headers })).toMatchObject(full)
    const refused = await upload()
    expect({ status: refused.status, ...FaultAnswer.parse(await refused.json()) }).toMatchObject(full)
    expect(await ready()).toMatchObject({ status: 503, body: { parts: { disk: false } } })
    expect((await ada.ask(getChat, { params })).messages).toEqual(messages)
    expect((await ada.ask(listTasks)).tasks).toHaveLength(1)
    expect(await blobFiles()).toEqual(blobs)

    expect(product.logs.stderr).toMatch(/"code":"disk_full".*request failed/)

    await rm(filler)
    expect(await ready()).toMatchObject({ status: 200 })
    await ada.ask(sendMessage, { params, body: message, headers })
    await ada.taskOnce(id, (task) => hasEnded(task) && task.execution?.turn === 2)
    expect((await upload()).status).toBe(201)
    const { messages: after } = await ada.ask(getChat, { params })
    expect(after.filter(({ messageType }) => messageType === 'user')).toHaveLength(2)

    await product.terminate()
    const env = { ...cleanEnvironment(dataDir), DATA_DIR: dataDir }
    expect(await runProduct(env, ['verify'])).toMatchObject({ code: 0 })
  })
})
