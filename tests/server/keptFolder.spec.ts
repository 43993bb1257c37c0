/**
 * A data folder that an earlier version created and filled: the current version opens it, and every task, replay, bundle and seal is unchanged. Each
 * archive is named after the commit that made it. An archive contains the folder (`data`, without the workspaces, which can be made again) and the
 * answers and replays of that commit (`expected`); members that were added since are no difference.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { getSeals, getTaskHistory } from '#domain/api/history.schema.ts'
import type { HistoryItem } from '#domain/history/item.ts'
import { BundleRecord } from '#domain/proof/auditBundle.schema.ts'
import { createReplayEngine } from '../../web/src/features/task/replay/replayEngine.ts'
import type { Person } from '../product/person.ts'
import { startProduct, type Product } from '../product.ts'
import { brokenChains, openStoppedProduct } from './stoppedProduct.ts'
import { hasEnded } from './scene.ts'

const kept = new URL('../data/keptFolder/', import.meta.url).pathname
const verifier = new URL('../../dist/server/flightdeck-verify.mjs', import.meta.url).pathname

const Answers = z.record(z.string(), z.unknown())
const Lines = z.array(z.string())
const Expected = z.object({
  ids: z.object({ tasks: z.array(z.string()), deleted: z.string(), projectId: z.string() }),
  /** By path below `/api`. */
  answers: Answers,
  /** By task. */
  bundles: z.record(z.string(), Lines),
  /** By task, then by the index of the item that was shown last. */
  replays: z.record(z.string(), z.record(z.string(), z.unknown())),
})

/** Without what each answer makes: the right to see an image for some hours, and the words proposed for a pull request. */
const recorded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/grant=[\w-]+/g, 'grant=…'), (name, member: unknown) =>
    name === 'proposal' ? null : asToday(member),
  )

/** An event of an older version is lifted when it is read. */
const Lifted = z.looseObject({ type: z.literal('ToolStarted'), version: z.number() })
function asToday(member: unknown): unknown {
  const lifted = Lifted.safeParse(member)
  return lifted.success ? { ...lifted.data, version: 2 } : member
}

/** As the client takes it, which knows the events by their types alone. */
const HistoryItems = z.object({
  items: z.array(
    z.custom<HistoryItem>((item) => getTaskHistory.answer.shape.items.element.safeParse(item).success),
  ),
})
const EventLine = z.looseObject({ kind: z.literal('event') })
const eventsOf = (lines: readonly string[]) =>
  lines.flatMap((line) => EventLine.safeParse(JSON.parse(line)).data ?? [])

describe.each(readdirSync(kept))('the folder of %s', (archive) => {
  let folder = ''
  let dataDir = ''
  let product: Product
  let ada: Person
  let expected: z.infer<typeof Expected>
  let sealsBefore = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flightdeck-kept-'))
    execFileSync('tar', ['-xzf', join(kept, archive), '-C', folder])
    dataDir = join(folder, 'data')
    const part = async (name: string): Promise<unknown> =>
      JSON.parse(await readFile(join(folder, 'expected', `${name}.json`), 'utf8'))
    const [ids, answers, bundles, replays] = await Promise.all(
      ['ids', 'answers', 'bundles', 'replays'].map(part),
    )
    expected = Expected.parse({ ids, answers, bundles, replays })
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
