/** A task's history is read, searched and replayed; a replay shows what a live page showed. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, describe, test } from 'vitest'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import { recordedAt } from '#domain/history/item.ts'
import { momentOf } from '#domain/history/moments.ts'
import { root } from '../load/project.ts'
import { patienceMs } from '../patience.ts'
import { createGate } from '../standins/messagesApi.ts'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { historyPage } from './pages/history.ts'
import { openTask, taskPage, type TaskPage } from './pages/task.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const run = promisify(execFile)
const verifier = join(root, 'dist/server/flightdeck-verify.mjs')

/** For how long nothing has to come until nothing more is expected, in milliseconds. */
const recordedMs = 1_000
const first = createGate()
const second = createGate()
const going = createGate()
const stage = await openStage({
  repositories: { parcels: { 'README.md': '# Parcels\n', 'a.txt': 'a\n' } },
  scripts: [
    {
      when: /Count the parcels/,
      turns: [
        {
          text: 'One two three four five six.',
          hold: { afterWords: 3, gate: first },
          tools: [
            { name: 'Bash', input: { command: 'seq 1 5 | sed "s/^/parcel /"; echo counted >> a.txt' } },
            { name: 'Bash', input: { command: 'cat no-such-file' } },
          ],
        },
        // A link may lead to a moment between two events.
        {
          delayMs: 1_500,
          text: 'Seven eight nine ten eleven twelve.',
          hold: { afterWords: 3, gate: second },
        },
      ],
    },
    { when: /Write it down/, turns: [{ text: 'It is written down.' }] },
    {
      when: /Keep going/,
      turns: [{ text: 'Going on and on and on.', hold: { afterWords: 2, gate: going } }],
    },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('parcels')

/** The name of the last moment that is recorded, once these words are. */
async function lastMoment(taskId: string, words: string): Promise<string> {
  const { items } = await ada.ask(getTaskHistory, { params: { taskId }, query: {} })
  const written = items.map((item) => (item.kind === 'delta' ? item.delta.text : ''))
  expect(written.join('')).toContain(words)
  const last = items.at(-1)
  if (last === undefined) throw new Error('The task has no history.')
  if (last.kind === 'event') return `${last.event.revision}`
  return `t${last.kind === 'output' ? last.output.version : last.delta.version}`
}

interface Seen {
  readonly moment: string
  readonly said: readonly string[]
  readonly printed: string
}

/** What the page and the record show once these words are in both, and nothing more comes. */
async function see(task: TaskPage, taskId: string, words: string): Promise<Seen> {
  await expect(task.chat).toContainText(words)
  const look = async () => ({
    moment: await lastMoment(taskId, words),
    said: await task.said(),
    printed: await task.printed(),
  })
  let seen: Seen | undefined
  await expect(async () => {
    const before = await look()
    await pause(recordedMs)
    seen = await look()
    expect(seen).toEqual(before)
  }).toPass({ timeout: patienceMs })
  if (seen === undefined) throw new Error('Nothing was seen.')
  return seen
}

/** A task of two turns, with what its live page showed in the middle of sentences and at their ends. */
const counted = await (async () => {
  const visit = await stage.visit({ as: ada })
  try {
    const { id } = await ada.task(project, 'Count the parcels')
    const task = await openTask(visit.page, id)
    const seen: Seen[] = []
    await first.reached
    seen.push(await see(task, id, 'One two three'))
    first.release()
    await second.reached
    await expect(task.terminal).toContainText('No such file')
    seen.push(await see(task, id, 'Seven eight nine'))
    second.release()
    await expect(task.status('Completed')).toBeVisible()
    await task.send('Write it down')
    await expect(task.chat).toContainText('It is written down.')
    await expect(task.status('Completed')).toBeVisible()
    return { id, seen }
  } finally {
    await visit.leave()
  }
})()

async function visitHistory(address = `/tasks/${counted.id}/history`) {
  const visit = await visiting(stage, { as: ada })
  await visit.page.goto(address)
  return { ...visit, history: historyPage(visit.page) }
}

describe('the history', () => {
  test('tells turn by turn what happened, in sentences', async () => {
    const { history } = await visitHistory()
    await expect(history.heads).toHaveText([/Turn 1.*Count the parcels/, /Turn 2.*Write it down/])
    await expect(history.row('Message from ada').first()).toBeVisible()
    await expect(history.row(/Cloned .*parcels at/)).toBeVisible()
    await expect(history.row(/Ran cat no-such-file.*failed/)).toBeVisible()
    await expect(history.row(/Answer from Claude.*It is written down/)).toBeVisible()
  })

  test('recorder point 6: counts entries and pieces of output, and unfolds the output below its entry', async () => {
    const { page, history } = await visitHistory()
    await expect(history.panel).toContainText(/\d+ entries \(\d+ pieces? of output\)/)
    await expect(history.row('parcel 5')).toBeHidden()
    for (const output of await history.panel.getByRole('button', { name: /^\d+ pieces? of output$/ }).all())
      await output.click()
    await history.row('parcel 5').click()
    await expect(page).toHaveURL(/at=t\d+/)
    await expect(history.row('parcel 5')).toHaveAttribute('aria-current', 'step')
  })

  test('recorder points 9 to 12: says who did what by name, without marks, and what a turn changed', async () => {
    const { history } = await visitHistory()
    await expect(history.row('Message from ada').first()).not.toContainText('Count the parcels')
    await expect(history.row(/Claude \d+\.\d+\.\d+ continued the conversation/)).toBeVisible()
    await expect(history.row('1 file changed')).toHaveCount(1)
    await expect(history.row(/differs? from/)).toHaveCount(0)
    const by = history.panel.getByRole('combobox', { name: 'Done by' })
    await expect(by.getByRole('option')).toHaveText(['Everybody', 'Ada Lovelace', 'Flightdeck', 'Claude'])
    await by.selectOption('Claude')
    await expect(history.row('Ran cat no-such-file')).toBeVisible()
    await expect(history.row('Message from ada')).toHaveCount(0)
  })

  test('recorder point 7: has a head for the day with the time zone, and times since the turn began', async () => {
    const { history } = await visitHistory()
    await expect(history.panel.getByText(/^\w+day, \w+ \d+, \d{4}, times in UTC/)).toHaveCount(1)
    await expect(history.row('Ran cat no-such-file')).toContainText(/\+\d+\.\ds/)
  })

  test('is narrowed to failures, and to what is looked for', async () => {
    const { page, history } = await visitHistory()
    await history.filter('Failures')
    await expect(history.row(/./)).toHaveCount(1)
    await expect(history.row('no-such-file')).toBeVisible()
    await history.filter('All')
    await history.button('Find in history').click()
    await page.getByRole('searchbox', { name: 'Find in history' }).fill('written down')
    await expect(history.row(/./)).toHaveCount(1)
    await page.getByRole('searchbox', { name: 'Find in history' }).fill('nothing like it')
    await history.button('Show everything').click()
    await expect(history.heads).toHaveCount(2)
  })

  test('recorder point 1: says when the record was sealed, who checked it, under which key, and how one knows', async () => {
    const { page, history } = await visitHistory()
    await expect(history.panel).toContainText(
      /Sealed \d+ \w+ ago · verified by this server · key [0-9a-f]{4} [0-9a-f]{4}…/,
    )
    await history.button('How do I know?').click()
    const dialog = page.getByRole('dialog', { name: 'What is known of this record' })
    await expect(dialog).toContainText(/All \d+ events of this task are in it/)
    await expect(dialog).toContainText("This is the server's own word")
    await expect(dialog).toContainText(/([0-9a-f]{4} ){7}[0-9a-f]{4}/)
    expect(await violations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Check it yourself' }).click()
    await expect(page.getByRole('dialog', { name: 'Audit record' })).toBeVisible()
  })

  test('recorder point 14: saves the audit record, without what is left out, and gives the line that checks it', async () => {
    const { page, history } = await visitHistory()
    await history.button('Audit record').click()
    const dialog = page.getByRole('dialog', { name: 'Audit record' })
    await dialog.getByText('Messages of people').click()
    expect(await violations(page)).toEqual([])
    const saved = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Save the record' }).click()
    const download = await saved
    const file = await download.path()
    const text = await readFile(file, 'utf8')
    expect(text.includes('Count the parcels')).toBe(false)
    expect(text.includes('Seven eight nine')).toBe(true)
    const line = (await dialog.locator('pre').textContent()) ?? ''
    expect(line).toContain(`node flightdeck-verify.mjs ${download.suggestedFilename()} --key "`)
    const [, key = ''] = /--key "([^"]+)"/.exec(line) ?? []
    const { stdout } = await run(process.execPath, [verifier, file, '--key', key])
    expect(stdout).toMatch(/^whole/)
  })

  test('recorder point 14: checks a record that is given to it, in the browser', async () => {
    const { page, history, requests } = await visitHistory()
    await history.button('Audit record').click()
    const dialog = page.getByRole('dialog', { name: 'Audit record' })
    const saved = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Save the record' }).click()
    const whole = await readFile(await (await saved).path(), 'utf8')
    const given = dialog.locator('input[type=file]')
    const give = (text: string) =>
      given.setInputFiles({
        name: 'audit.ndjson',
        mimeType: 'application/x-ndjson',
        buffer: Buffer.from(text),
      })
    const before = requests.length
    await give(whole)
    await expect(dialog).toContainText('Whole: nothing was changed')
    await give(whole.replace('Seven eight nine', 'Seven eight ten'))
    await expect(dialog).toContainText(/Not whole.*changed task-/s)
    await dialog.getByRole('textbox', { name: 'Key that must have signed' }).fill('0000 '.repeat(8))
    await give(whole)
    await expect(dialog).toContainText('Signed by another key than the one above')
    await give('no record')
    await expect(dialog).toContainText('Not whole')
    expect(await violations(page)).toEqual([])
    // The verifier is loaded, and nothing is sent.
    const sent = requests.slice(before).filter((each) => each.method() !== 'GET' || each.postData() !== null)
    expect(sent.map((each) => each.url())).toEqual([])
  })
})

describe('a replay', () => {
  test('shows at recorded moments what the live page showed then', async () => {
    for (const { moment, said, printed } of counted.seen) {
      const { page, history } = await visitHistory(`/tasks/${counted.id}/history?at=${moment}`)
      const task = taskPage(page)
      await expect(history.bar).toContainText('in turn 1')
      await page.getByRole('tab', { name: 'Terminal' }).click()
      await expect.poll(() => task.said()).toEqual(said)
      await expect.poll(() => task.printed()).toEqual(printed)
    }
  })

  test('begins at a row, names its moment in the address, and one key is back at what is live', async () => {
    const { page, history } = await visitHistory()
    const task = taskPage(page)
    await expect(task.chat).toContainText('It is written down.')
    await history.row('Ran cat no-such-file').click()
    await expect(history.bar).toContainText('Nothing you do here changes it.')
    await expect(task.chat).not.toContainText('It is written down.')
    await expect(task.composer).toBeHidden()
    await expect(task.chat).toContainText('You can write again when you are back to live.')
    await expect(history.button('Create PR')).toBeHidden()
    await expect(page).toHaveURL(/at=\d+/)
    await page.getByRole('tab', { name: 'Code Changes' }).click()
    await page.keyboard.press('Escape')
    await expect(history.bar).toBeHidden()
    await expect(task.chat).toContainText('It is written down.')
    await expect(task.composer).toBeVisible()
    await expect(page).not.toHaveURL(/at=/)
  })

  test('moves by the keys of a video player', async () => {
    const { page, history } = await visitHistory()
    await history.row('Message from ada').first().click()
    await history.slider.focus()
    const place = async () => Number(await history.slider.getAttribute('aria-valuenow'))
    const at = await place()
    await page.keyboard.press('.')
    await expect.poll(place).toBe(at + 1)
    await page.keyboard.press(',')
    await expect.poll(place).toBe(at)
    await page.keyboard.press('End')
    const end = Number(await history.slider.getAttribute('aria-valuemax'))
    await expect.poll(place).toBe(end)
    await page.keyboard.press('Shift+ArrowLeft')
    await expect(history.bar).toContainText('in turn')
    await expect.poll(place).toBeLessThan(end)
    await page.keyboard.press('Home')
    await expect.poll(place).toBe(1)
    await page.keyboard.press('f')
    await expect(history.row('no-such-file')).toHaveAttribute('aria-current', 'step')
    const failed = await place()
    await page.keyboard.press('f')
    expect(await place()).toBe(failed)
    await page.keyboard.press('End')
    await expect.poll(place).toBe(end)
    await page.keyboard.press('Shift+F')
    await expect.poll(place).toBe(failed)
    await page.keyboard.press('Home')
    await expect.poll(place).toBe(1)
    await history.slider.press('Tab')
    const mark = page
      .getByRole('toolbar', { name: 'Failures, commits and pull requests' })
      .getByRole('button')
    await expect(mark.first()).toBeFocused()
    await page.keyboard.press('Enter')
    await expect.poll(place).toBe(failed)
    await history.slider.focus()
    await page.keyboard.press('Home')
    await expect.poll(place).toBe(1)
    await page.keyboard.press('5')
    await expect.poll(place).toBeGreaterThan(1)
    await page.keyboard.press('Home')
    // Slowly, so that it does not end before somebody looks.
    await page.keyboard.press('<')
    await page.keyboard.press(' ')
    await expect(history.button('Pause')).toBeVisible()
    await expect.poll(place).toBeGreaterThan(3)
    await page.keyboard.press('k')
    await expect(history.button('Play')).toBeVisible()
    await page.keyboard.press('?')
    await expect(page.getByRole('dialog', { name: 'Keys of the replay' })).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(history.bar).toBeVisible()
    await expect(history.slider).toHaveAttribute('aria-valuetext', /event \d+ of \d+/)
  })

  test('recorder L1: spoken value and bar name the turn whose first row is shown', async () => {
    const { page, history } = await visitHistory()
    await history.row('Message from ada').first().click()
    await history.slider.focus()
    await page.keyboard.press('Shift+ArrowRight')
    await expect(history.row('Message from ada').nth(1)).toHaveAttribute('aria-current', 'step')
    await expect(history.bar).toContainText('in turn 2')
    await expect(history.slider).toHaveAttribute('aria-valuetext', /in turn 2$/)
    await page.keyboard.press('Shift+ArrowLeft')
    await expect(history.bar).toContainText('in turn 1')
  })

  test('recorder point 15: a link to a moment between two events opens there, and the address keeps it', async () => {
    const { items } = await ada.ask(getTaskHistory, { params: { taskId: counted.id }, query: {} })
    const times = items.map((item) => Date.parse(recordedAt(item)))
    const index = times.findIndex((time, at) => (times[at + 1] ?? 0) - time > 1_100)
    const item = items[index]
    if (item === undefined) throw new Error('The task never paused.')
    const { page, history } = await visitHistory(`/tasks/${counted.id}/history?at=${momentOf(item)}+1s`)
    await expect(history.slider).toHaveAttribute('aria-valuenow', `${index + 1}`)
    await page.reload()
    await expect(history.slider).toHaveAttribute('aria-valuenow', `${index + 1}`)
    expect(page.url()).toContain(`at=${momentOf(item)}+1s`)
    await history.slider.focus()
    await page.keyboard.press('.')
    await expect(page).not.toHaveURL(/\+1s/)
  })

  test('recorder point 5: shows nothing of the future', async () => {
    const { history } = await visitHistory()
    const command = history.row('Ran cat no-such-file')
    await expect(command).toContainText('failed, exit 1')
    await history.row('Task created').click()
    await expect(history.bar).toBeVisible()
    await expect(command).not.toContainText('failed')
    await expect(history.row('The turn ended')).toHaveCount(2)
    await expect(history.row(/finished/)).toHaveCount(0)
    await expect(history.panel).not.toContainText('It is written down.')
    await expect(history.heads.nth(0)).not.toContainText(/Completed|\ds/)
    await history.button('Back to live').click()
    await expect(command).toContainText('failed, exit 1')
  })

  test('shows the changes as they were', async () => {
    const { page, history } = await visitHistory()
    const task = taskPage(page)
    await history.row('Message from ada').first().click()
    await page.getByRole('tab', { name: 'Code Changes' }).click()
    await expect(page.getByText('No changes yet')).toBeVisible()
    await history.slider.focus()
    await page.keyboard.press('End')
    await expect(task.diff).toContainText('counted')
    await expect(history.button('Refresh')).toBeHidden()
  })

  test('says so when there is no such moment', async () => {
    const { page, history } = await visitHistory(`/tasks/${counted.id}/history?at=t99999`)
    await expect(page.getByText('This task has no such moment.')).toBeVisible()
    await expect(history.bar).toBeHidden()
  })

  test('goes on while the task runs: what is new is added, and what is shown stays', async () => {
    const { page } = await visiting(stage, { as: ada })
    const { id } = await ada.task(project, 'Keep going')
    const task = await openTask(page, id)
    const history = historyPage(page)
    await going.reached
    await history.open()
    await history.row('Message from ada').click()
    const before = await history.slider.getAttribute('aria-valuemax')
    const shown = await history.slider.getAttribute('aria-valuenow')
    going.release()
    await expect(history.row('Answer from Claude')).toBeVisible()
    await expect(history.slider).not.toHaveAttribute('aria-valuemax', before ?? '')
    await expect(history.slider).toHaveAttribute('aria-valuenow', shown ?? '')
    await expect(task.chat).not.toContainText('on and on')
    await history.button('Back to live').click()
    await expect(task.chat).toContainText('Going on and on and on.')
  })
})

describe('for everybody', () => {
  test('axe finds nothing, in the history and in a replay', async () => {
    const { page, history } = await visitHistory()
    await expect(history.heads).toHaveCount(2)
    expect(await violations(page)).toEqual([])
    await history.row('no-such-file').click()
    await expect(history.bar).toBeVisible()
    expect(await violations(page)).toEqual([])
  })

  test('all of it fits a phone', async () => {
    const { page, history } = await visitHistory()
    await page.setViewportSize({ width: 390, height: 844 })
    await expect(history.heads).toHaveCount(2)
    await history.row('no-such-file').click()
    await expect(history.slider).toBeVisible()
    expect(await overflowAt(page, 390)).toEqual([])
    expect(await violations(page)).toEqual([])
    await history.button('Show in the chat').click()
    await expect(taskPage(page).chat).toContainText('You can write again')
  })
})
