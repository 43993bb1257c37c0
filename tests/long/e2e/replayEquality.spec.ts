/** A replay of a real run shows what a real page showed at that time, for every kind of turn. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect as expectValue, test } from 'vitest'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import { expect } from '../../e2e/expect.ts'
import { historyPage } from '../../e2e/pages/history.ts'
import { openTask, taskPage, type TaskPage } from '../../e2e/pages/task.ts'
import { openStage } from '../../e2e/stage.ts'
import type { Visit } from '../../e2e/visit.ts'
import { note } from '../../report/notes.ts'
import { picture } from '../../server/pictures.ts'
import { createGate } from '../../standins/messagesApi.ts'
import {
  prepareRecording,
  recordedStates,
  replayedStates,
  startRecording,
  type States,
} from './recordedPage.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Do it' } })
const counting = createGate()
const going = createGate()
const fault = { status: 400, type: 'invalid_request_error', message: 'This is refused.', isFinal: true }
const stage = await openStage({
  repositories: { parcels: { 'README.md': '# Parcels\n', 'a.txt': 'a\n' } },
  // An answer that failed is followed by the next message in one with it: later messages are looked for first.
  scripts: [
    { when: /Look at this/, turns: [{ text: 'I see a picture.' }] },
    { when: /Be refused/, turns: [{ fault }] },
    {
      when: /Count the parcels/,
      turns: [
        {
          text: 'One two three four five six.',
          hold: { afterWords: 3, gate: counting },
          tools: [bash('seq 1 5 | sed "s/^/parcel /"; echo counted >> a.txt'), bash('cat no-such-file')],
        },
        { text: 'All are counted.' },
      ],
    },
    { when: /Write it down/, turns: [{ tools: [bash('echo down > b.txt')] }, { text: 'It is down.' }] },
    { when: /Keep going/, turns: [{ text: 'On and on and on.', hold: { afterWords: 3, gate: going } }] },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')

interface Seen {
  readonly when: string
  /** The last that was recorded then, as a link names it. */
  readonly moment: string
  readonly said: readonly string[]
  readonly printed: string
}

let visit: Visit
let taskId = ''
const seen: Seen[] = []
let held: States = {}

async function lastMoment(): Promise<string> {
  const { items } = await ada.ask(getTaskHistory, { params: { taskId }, query: { limit: '1000' } })
  const last = items.at(-1)
  if (last === undefined) throw new Error('The task has no history.')
  if (last.kind === 'event') return `${last.event.revision}`
  return `t${last.kind === 'output' ? last.output.version : last.delta.version}`
}

/** What the page shows once nothing more comes: two looks, half a second apart, at the same moment. */
async function see(task: TaskPage, when: string): Promise<void> {
  // A line of the terminal that has the pointer shows its time.
  await visit.page.mouse.move(0, 0)
  for (let before: Seen | null = null; ;) {
    await pause(500)
    const now: Seen = {
      when,
      moment: await lastMoment(),
      said: await task.said(),
      printed: await task.printed(),
    }
    if (JSON.stringify(now) === JSON.stringify(before)) {
      seen.push(now)
      return
    }
    before = now
  }
}

beforeAll(async () => {
  visit = await stage.visit({ as: ada })
  const { page } = visit
  await prepareRecording(page)
  const project = await ada.project('parcels')
  taskId = (await ada.task(project, 'Count the parcels')).id
  const task = await openTask(page, taskId)
  await startRecording(page)

  await counting.reached
  await expect(task.chat).toContainText('One two three')
  await see(task, 'in the middle of an answer')
  await task.send('Write it down')
  await expect(task.chat).toContainText('Write it down')
  await see(task, 'with a message in the queue')
  counting.release()
  await expect(task.chat).toContainText('It is down.')
  await expect(task.status('Completed')).toBeVisible()
  await see(task, 'after two turns')

  await task.send('Keep going')
  await going.reached
  await expect(task.chat).toContainText('On and on')
  await task.header.getByRole('button', { name: 'Cancel' }).click()
  await expect(task.status('Cancelled')).toBeVisible()
  await see(task, 'after a stop')

  await task.send('Be refused')
  await expect(task.status('Failed')).toBeVisible()
  await see(task, 'after a failure')

  const image = { name: 'said.png', mimeType: 'image/png', buffer: await picture('image/png', 64, 48) }
  await page.locator('input[type=file]').setInputFiles([image])
  await task.send('Look at this')
  await expect(task.chat).toContainText('I see a picture.')
  await expect(task.status('Completed')).toBeVisible()
  await see(task, 'after a message with an image')

  await page.getByRole('button', { name: 'Create PR' }).click()
  await page.getByRole('button', { name: 'Create pull request' }).click()
  await expect(task.chat).toContainText('created successfully')
  await see(task, 'after a pull request')
  held = await recordedStates(page)
}, 300_000)
afterAll(() => visit?.leave())

/** For a failure that can be read. */
const parsed = (states: States, revision: number): unknown => JSON.parse(states[revision] ?? 'null')

describe('a replay of a run with every kind of turn', () => {
  test('holds at every recorded revision, byte for byte, what the live page held', async () => {
    const { page } = visit
    const history = historyPage(page)
    await history.open()
    await expect(history.row('Message from ada').first()).toBeVisible()
    await history.row('Message from ada').first().click()
    await expect(history.bar).toBeVisible()
    const revisions = Object.keys(held).map(Number)
    const replayed = await replayedStates(page, revisions)
    const different = revisions.filter((revision) => held[revision] !== replayed[revision])
    for (const revision of different) expectValue(parsed(replayed, revision)).toEqual(parsed(held, revision))
    expectValue(different).toEqual([])
    expectValue(revisions.length).toBeGreaterThan(30)
    note('replay of a real run', `${revisions.length} revisions byte for byte as the live page had them`)
  })

  test('shows at quiet moments the chat and the terminal that the live page showed', async () => {
    const { page } = visit
    for (const { when, moment, said, printed } of seen) {
      await page.goto(`/tasks/${taskId}/history?at=${moment}`)
      const task = taskPage(page)
      await expect(historyPage(page).bar).toBeVisible()
      await page.getByRole('tab', { name: 'Terminal' }).click()
      await expect.poll(() => task.said(), { message: when }).toEqual(said)
      await expect.poll(() => task.printed(), { message: when }).toEqual(printed)
    }
  })
})
