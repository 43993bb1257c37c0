/** A task whose record was damaged while the product was stopped: what a person sees of this task, and of the others. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, describe, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { hasEnded } from '../server/scene.ts'
import { createGate } from '../standins/messagesApi.ts'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { openTask } from './pages/task.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const going = createGate()
const long = Array.from({ length: 120 }, (_, line) => `Line ${line} of a long answer.`).join('\n\n')
const stage = await openStage({
  repositories: { parcels: { 'README.md': '# Parcels\n' } },
  scripts: [
    { when: /Write a lot/, turns: [{ text: long }] },
    { when: /Keep going/, turns: [{ text: 'Going on and on.', hold: { afterWords: 2, gate: going } }] },
  ],
})
afterAll(() => stage.close())
const { product } = stage
const ada = await product.signIn('ada')
const project = await ada.project('parcels')
const { id } = await ada.task(project, 'Write a lot')
await ada.taskOnce(id, hasEnded)
await ada.api('POST', `/tasks/${id}/chat`, { message: 'Keep going' })
await ada.taskOnce(id, ({ status, execution }) => status === 'running' && execution?.startedAt != null)
await product.kill9()
await damageLastEvent()
going.release()
await product.restart()
await ada.taskOnce(id, ({ unreadable }) => unreadable !== undefined)

/** Puts in the place of what the task's last event says what is no JSON. The views are made anew. */
async function damageLastEvent(): Promise<void> {
  const db = new DatabaseSync(join(product.dataDir, 'events.sqlite'))
  const { changes } = db
    .prepare(
      'UPDATE events SET data = ? WHERE position = (SELECT max(position) FROM events WHERE stream = ?)',
    )
    .run('{"what":', taskStream(id))
  db.close()
  if (changes !== 1) throw new Error('No event of the task was damaged.')
  for (const ending of ['', '-wal', '-shm'])
    await rm(join(product.dataDir, `views.sqlite${ending}`), { force: true })
}

describe('recorder H7: a task whose record is damaged', () => {
  // Holds findings 1.117.
  test('says so in a banner that is in sight, however long its chat is, and offers nothing that it cannot do', async () => {
    const { page } = await visiting(stage, { as: ada })
    const task = await openTask(page, id)
    const banner = page.getByRole('alert').filter({ hasText: 'The record of this task is damaged.' })
    await expect(banner).toBeInViewport({ ratio: 1 })
    await task.chat.getByRole('button', { name: 'Show more' }).click()
    await task.chat.getByText('Line 119 of a long answer.').hover()
    await expect(banner).toBeInViewport({ ratio: 1 })
    await page.mouse.wheel(0, -50_000)
    await expect(task.chat.getByText('Write a lot')).toBeInViewport()
    await expect(banner).toBeInViewport({ ratio: 1 })
    await expect(task.status('Record damaged')).toBeVisible()
    await expect(task.composer).toHaveCount(0)
    for (const name of [/^Stop/, /^Cancel/, /^Create PR/, /^Send/])
      await expect(page.getByRole('button', { name })).toHaveCount(0)
    expect(await task.header.innerText()).not.toMatch(/\d+s\b/)
    expect(await violations(page)).toEqual([])
    expect(await overflowAt(page, 375)).toEqual([])
    await expect(banner).toBeInViewport({ ratio: 1 })
  })

  test('has that status in the lists, and counts as none that runs', async () => {
    const { page } = await visiting(stage, { as: ada })
    for (const address of ['/dashboard', `/projects/${project}`]) {
      await page.goto(address)
      await expect(page.getByText('Record damaged').first()).toBeVisible()
      await expect(page.locator('[data-status=running]')).toHaveCount(0)
      expect(await violations(page)).toEqual([])
    }
    await expect(page.getByRole('link', { name: 'Dashboard', exact: true })).toBeVisible()
    expect(await overflowAt(page, 375)).toEqual([])
  })
})
