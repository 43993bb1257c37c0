/** Damage to stored data, with the product and its operator's commands: what stops, what goes on, and how it is repaired. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { executeTask, getPullRequest, getTask, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { blobsIn } from '#domain/proof/bundleContents.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { note } from '../../report/notes.ts'
import { ownFolder } from '../../product.ts'
import { createGate } from '../../standins/messagesApi.ts'
import { cutShort, operateOn, rewrite } from '../../server/damaging.ts'
import { eventually } from '../../server/engines.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const change = { name: 'Bash', input: { command: 'echo xyzzy >> README.md', description: 'Change' } }
const gate = createGate()
const withinMs = 30_000

let scene: Scene
let folder = ''
let damaged = ''
let whole = ''
beforeAll(async () => {
  folder = await ownFolder()
  scene = await openScene(
    [
      { when: /wait/, turns: [{ text: 'I am waiting.', hold: { afterWords: 2, gate } }] },
      { turns: [{ text: 'I change it.', tools: [change] }, { text: 'Changed.' }] },
    ],
    { env: { LOG_LEVEL: 'info' } },
  )
  damaged = (await scene.ada.task(scene.projectId, 'Change the one')).id
  whole = (await scene.ada.task(scene.projectId, 'Change the other')).id
  for (const id of [damaged, whole]) await scene.ada.taskOnce(id, hasEnded)
  note('the runs beside damaged records', 'the real CLI, on a scripted Messages API, not Anthropic')
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

const operate = (...words: readonly string[]) => operateOn(scene.product, ...words)
const damage = (stream: string, revision: number) => cutShort(scene.product, stream, revision)
const history = (id: string) => scene.ada.api('GET', `/tasks/${id}/history`)

// Holds findings 1.91.
test('recorder M2: quarantine lists, shows and releases a stream while the product runs, and refuses other words briefly', async () => {
  const putBack = damage(taskStream(damaged), 3)
  await history(damaged)
  const line = new RegExp(`^${taskStream(damaged)} {2}event 3 \\(\\w+\\) is not JSON`)
  await eventually(
    'the stream is listed',
    async () => line.test((await operate('quarantine')).stdout),
    withinMs,
  )
  expect(await operate('quarantine', 'list')).toMatchObject({ code: 0, stdout: expect.stringMatching(line) })
  const inspected = await operate('quarantine', 'inspect', taskStream(damaged))
  expect(inspected).toMatchObject({ code: 0, stdout: expect.stringMatching(/position \d+ {2}\{/) })
  expect(inspected.stdout).not.toContain('\u001b')
  expect(await operate('quarantine', 'inspect', taskStream(whole))).toMatchObject({ code: 1 })
  expect(await operate('quarantine', 'release', taskStream(damaged))).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/stays set aside: .* is not JSON/),
  })
  const unknown = await operate('quarantine', 'mend', taskStream(damaged))
  expect(unknown.code).toBe(1)
  expect(unknown.stderr).toMatch(/there is no such command/)
  expect(unknown.stderr.trimEnd().split('\n').length).toBeLessThan(10)

  putBack()
  const forge = (text: string) => text.replace('{', '{"forged":1,')
  const undo = rewrite(scene.product, { stream: taskStream(damaged), revision: 3 }, forge)
  expect(await operate('quarantine', 'release', taskStream(damaged))).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/stays set aside: .* it was changed/),
  })
  undo()
  expect(await operate('quarantine', 'release', taskStream(damaged))).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/is back in use/),
  })
  await scene.ada.taskOnce(damaged, ({ unreadable }) => unreadable === undefined)
  expect((await operate('quarantine')).stdout).toBe('No stream is set aside.\n')
  await scene.ada.ask(executeTask, { params: { taskId: damaged }, body: { command: 'true' } })
  await scene.ada.taskOnce(damaged, (now) => hasEnded(now) && now.execution?.turn === 2)
})

// Holds findings 1.80.
test('recorder C1: a backup of a log with a damaged row is made, names the row, and exits with 1', async () => {
  const putBack = damage(taskStream(damaged), 4)
  const made = await operate('backup', join(folder, 'copy'), '--with-key')
  expect(made.code).toBe(1)
  expect(made.stdout).toContain(`${taskStream(damaged)} @ 4 is not JSON: what is stored was damaged.\n`)
  expect(made.stdout).toMatch(/and not whole: \d+ events in \d+ streams/)
  expect(made.stdout.split('\n').filter((line) => / @ \d+ /.test(line))).toHaveLength(1)
  putBack()
  expect(await operate('backup', join(folder, 'mended'))).toMatchObject({ code: 0 })
})

// Holds findings 1.126.
test('recorder M4: a task whose newest diff is damaged is shown, without its files, and says why', async () => {
  const params = { taskId: whole }
  const { data: before } = await scene.ada.ask(getTaskDiff, { params })
  expect(before.changedFiles).toHaveLength(1)
  const hash = await newestDiff(whole)
  const blob = join(scene.product.dataDir, 'blobs', hash.slice(0, 2), hash.slice(2, 4), hash)
  const bytes = await readFile(blob)
  await writeFile(blob, bytes.with(20, (bytes[20] ?? 0) ^ 1))
  const shown = await scene.ada.ask(getTask, { params })
  expect(shown.data.changedFiles).toEqual([])
  expect(shown.task.title).not.toBe('')
  const { data } = await scene.ada.ask(getTaskDiff, { params })
  expect(data).toMatchObject({ changedFiles: [], totalChanges: 1, message: expect.stringMatching(/damaged/) })
  expect((await scene.ada.ask(getPullRequest, { params })).proposal.title).not.toBe('')
  await writeFile(blob, bytes)
  expect((await scene.ada.ask(getTaskDiff, { params })).data).toEqual(before)
})

async function newestDiff(id: string): Promise<string> {
  const db = new DatabaseSync(join(scene.product.dataDir, 'events.sqlite'), { timeout: 5_000 })
  try {
    const rows = db
      .prepare(
        "SELECT data FROM events WHERE stream = ? AND type = 'WorkspaceChanged' ORDER BY revision DESC",
      )
      .all(taskStream(id)) as { data: string }[]
    const [hash] = rows.flatMap(({ data }) => blobsIn({ data: JSON.parse(data) }))
    if (hash === undefined) throw new Error('No diff was recorded.')
    return hash
  } finally {
    db.close()
  }
}

// Holds findings 1.81.
test('recorder C1: a run whose task is damaged meanwhile is stopped with a sentence in the log, and ended once it is mended', async () => {
  const { id } = await scene.ada.task(scene.projectId, 'Please wait')
  await gate.reached
  const putBack = damage(taskStream(id), 2)
  await history(id)
  const { logs } = scene.product
  await eventually(
    'the run is stopped',
    () =>
      logs.stderr.includes('the record of the task is damaged: its run is stopped') &&
      /"msg":"run ended"/.test(logs.stderr.slice(logs.stderr.lastIndexOf('its run is stopped'))),
    withinMs,
  )
  gate.release()
  putBack()
  expect(await operate('quarantine', 'release', taskStream(id))).toMatchObject({ code: 0 })
  const task = await scene.ada.taskOnce(id, (now) => hasEnded(now) && now.unreadable === undefined, withinMs)
  expect(task.status).toBe('failed')
  expect((await history(id)).text).toContain('The runner stopped while this was running')
})
