/**
 * A data folder that an earlier version created and filled: the current version opens it, and every task, replay, bundle and seal is unchanged. Each
 * archive is named after the commit that made it. An archive contains the folder (`data`, without the workspaces, which can be made again) and the
 * answers and replays of that commit (`expected`); members that were added since are no difference.
 */
import { execFileSync } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { getSeals, getTaskHistory } from '#domain/api/history.schema.ts'
import type { HistoryItem } from '#domain/history/item.ts'
import { BundleRecord } from '#domain/proof/auditBundle.schema.ts'
import { createReplayEngine } from '../../web/src/features/task/replay/replayEngine.ts'
import type { Person } from '../product/person.ts'
import { startProduct, type Product } from '../product.ts'
import { archives, eventsOf, recorded, unpackKept, type KeptFolder } from './keptFolder.ts'
import { brokenChains, openStoppedProduct } from './stoppedProduct.ts'
import { hasEnded } from './scene.ts'

const verifier = fileURLToPath(new URL('../../dist/server/flightdeck-verify.mjs', import.meta.url))

/** As the client takes it, which knows the events by their types alone. */
const HistoryItems = z.object({
  items: z.array(
    z.custom<HistoryItem>((item) => getTaskHistory.answer.shape.items.element.safeParse(item).success),
  ),
})
describe.each(archives)('the folder of %s', (archive) => {
  let folder = ''
  let dataDir = ''
  let product: Product
  let ada: Person
  let expected: KeptFolder['expected']
  let sealsBefore = ''
  beforeAll(async () => {
    ;({ folder, dataDir, expected } = await unpackKept(archive))
    sealsBefore = await readFile(join(dataDir, 'seals.ndjson'), 'utf8')
    product = await startProduct({ dataDir, env: { ALLOWED_USERS: '*', ADMINS: 'ada' } })
    ada = await product.signIn('ada', { onboarding: 'left' })
  })
  afterAll(async () => {
    await product?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  test('every answer about its tasks and projects is as it was', async () => {
    for (const [path, answer] of Object.entries(expected.answers)) {
      const { status, body } = await ada.api('GET', path)
      expect({ path, status, body: recorded(body) }).toMatchObject({
        path,
        status: 200,
        body: recorded(answer),
      })
    }
  })

  test('every replay shows at each moment what it showed', async () => {
    for (const [taskId, moments] of Object.entries(expected.replays)) {
      const { items } = HistoryItems.parse((await ada.api('GET', `/tasks/${taskId}/history`)).body)
      const engine = createReplayEngine({
        id: taskId,
        project: { id: expected.ids.projectId, name: 'engine', githubRepoName: 'engine', githubOwner: 'ada' },
        images: [],
      })
      engine.add(items)
      for (const [index, moment] of Object.entries(moments)) {
        const { state, writer } = engine.seek(Number(index))
        // The client had another name for its last live status when the moments were kept.
        const openTask = { ...state.openTask, said: state.openTask.liveStatus }
        const lines = writer.lines
        const shown: unknown = JSON.parse(JSON.stringify({ state: { ...state, openTask }, lines }))
        expect({ taskId, index, shown }).toMatchObject({ taskId, index, shown: moment })
      }
    }
  })

  test('every bundle has the events and contents that it had, and is whole with the seals that were outside', async () => {
    const seals = join(folder, 'seals.ndjson')
    await writeFile(seals, sealsBefore)
    for (const [taskId, before] of Object.entries(expected.bundles)) {
      const { text } = await ada.api('GET', `/tasks/${taskId}/audit`)
      expect(eventsOf(before).length).toBeGreaterThan(5)
      expect(eventsOf(text.trimEnd().split('\n'))).toEqual(eventsOf(before))
      const file = join(folder, `${taskId}.ndjson`)
      await writeFile(file, text)
      const header = BundleRecord.parse(JSON.parse(text.slice(0, text.indexOf('\n'))))
      const key = header.kind === 'header' ? (header.keys[0] ?? '') : ''
      const told = execFileSync(process.execPath, [verifier, file, '--key', key, '--seal', seals], {
        encoding: 'utf8',
      })
      expect(told).toMatch(/^whole\n/)
    }
    expect((await ada.api('GET', `/tasks/${expected.ids.deleted}/audit`)).status).toBe(200)
  })

  test('the seals go on from those it had, and a task goes on from where it was', async () => {
    const { seal } = await ada.ask(getSeals)
    expect(seal?.size).toBeGreaterThan(0)
    const [taskId = ''] = expected.ids.tasks
    const before = await ada.taskOnce(taskId, hasEnded)
    await ada.api('POST', `/tasks/${taskId}/chat`, { message: 'Go on' })
    await ada.taskOnce(
      taskId,
      (now) => hasEnded(now) && (now.execution?.turn ?? 0) > (before.execution?.turn ?? 0),
    )
    await product.terminate()
    const seals = await readFile(join(dataDir, 'seals.ndjson'), 'utf8')
    expect(seals.slice(0, sealsBefore.length)).toBe(sealsBefore)
    expect(seals.length).toBeGreaterThan(sealsBefore.length)
    const stored = await openStoppedProduct(dataDir)
    try {
      expect(await brokenChains(stored)).toEqual([])
    } finally {
      await stored.close()
    }
  })
})
