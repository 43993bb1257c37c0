/** The replay of a task is saved as one file, which plays without a server and without a network. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, test } from 'vitest'
import { picture } from '../server/pictures.ts'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { historyPage } from './pages/history.ts'
import { lookingAt } from '../standins/agentDoings.ts'
import { openTask, taskPage } from './pages/task.ts'
import { openStage } from './stage.ts'
import type { VisitOptions } from './visit.ts'
import { visiting } from './visiting.ts'

const hostile = '</script><script>alert(1)</script>'
const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Count' } })
const stage = await openStage({
  repositories: { parcels: { 'README.md': '# Parcels\n' } },
  scripts: [
    {
      when: /Count the parcels/,
      turns: [
        {
          tools: [
            bash(
              `seq 1 3 | sed "s/^/parcel /"; printf '%s\\n\\342\\200\\250seen\\n' '${hostile}' > '<img src=x onerror=alert(1)>.txt'`,
            ),
          ],
        },
        { text: 'Three are counted.' },
      ],
    },
    {
      when: /Count the boxes/,
      turns: [
        { tools: [bash('seq 1 2 | sed "s/^/box /" | tee boxes.txt')] },
        ...lookingAt('/tmp/shelf.png', await picture('image/png', 60, 40)),
        { text: 'Two **boxes** are counted.' },
      ],
    },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('parcels')

/** A task of two turns, saved by a person from its history. */
const file = await (async () => {
  const visit = await stage.visit({ as: ada })
  try {
    const { id } = await ada.task(project, `Count the parcels ${hostile}`)
    const task = await openTask(visit.page, id)
    await expect(task.chat).toContainText('Three are counted.')
    await expect(task.status('Completed')).toBeVisible()
    const buffer = await picture('image/png', 320, 200)
    await visit.page
      .locator('input[type=file]')
      .setInputFiles({ name: 'boxes.png', mimeType: 'image/png', buffer })
    await expect(
      visit.page.getByRole('list', { name: 'Attached images' }).getByText('boxes.png'),
    ).toBeVisible()
    await task.send('Count the boxes')
    await expect(task.chat).toContainText('Two boxes are counted.')
    await expect(task.status('Completed')).toBeVisible()
    const history = historyPage(visit.page)
    await history.open()
    await expect(history.heads).toHaveCount(2)
    const saving = visit.page.waitForEvent('download')
    await history.button('Save').click()
    const saved = await saving
    expect(saved.suggestedFilename()).toBe(`replay-${id}.html`)
    const path = join(stage.folder, saved.suggestedFilename())
    await saved.saveAs(path)
    return path
  } finally {
    await visit.leave()
  }
})()

/** Opens the file from the disk, at a browser that nobody has signed in at and that has no network. */
async function openFile(options: VisitOptions = {}, hash = '') {
  const visit = await visiting(stage, options)
  const dialogs: string[] = []
  visit.page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  await visit.context.setOffline(true)
  await visit.page.goto(`${pathToFileURL(file).href}${hash}`)
  const history = historyPage(visit.page)
  await expect(history.slider).toBeVisible()
  return { ...visit, history, task: taskPage(visit.page), dialogs }
}

test('shows by the keys of the replay the chat and the terminal of a moment', async () => {
  const { page, history, task, requests } = await openFile()
  await expect(page).toHaveTitle(/^Count the parcels/)
  await expect(page.getByText('not part of this file')).toBeHidden()
  await page.keyboard.press('End')
  await expect(task.chat).toContainText('Two boxes are counted.')
  await expect(task.terminal).toContainText('box 2')
  await page.keyboard.press('Shift+ArrowLeft')
  await expect(task.chat).toContainText('Three are counted.')
  await expect(task.chat).not.toContainText('Two boxes are counted.')
  await expect(task.terminal).toContainText('parcel 3')
  await expect(task.terminal).not.toContainText('box 2')
  await page.keyboard.press('Home')
  await expect(history.slider).toHaveAttribute('aria-valuenow', '1')
  await page.keyboard.press('.')
  await expect(history.slider).toHaveAttribute('aria-valuenow', '2')
  await page.keyboard.press('>')
  await expect(page.getByRole('combobox', { name: 'Speed' })).toHaveValue('2')
  // Slowly, so that it does not end before somebody looks.
  for (const speed of ['1', '0.5']) {
    await page.keyboard.press('<')
    await expect(page.getByRole('combobox', { name: 'Speed' })).toHaveValue(speed)
  }
  await page.keyboard.press(' ')
  await expect(history.button('Pause')).toBeVisible()
  // There is no live task to go back to: the replay stays.
  await page.keyboard.press('Escape')
  await expect(history.button('Play')).toBeVisible()
  expect(
    requests.filter((request) => !/^(file|data):/.test(request.url())).map((each) => each.url()),
  ).toEqual([])
})

test('recorder L6: opens at the end of the first turn, says when it was saved with the zone, and whose it is', async () => {
  const { page, task } = await openFile()
  await expect(task.chat).toContainText('Three are counted.')
  await expect(task.chat).not.toContainText('Two boxes are counted.')
  await expect(page.getByText(/as it was recorded until \w{3} \d+, \d{4}, [\d:]{8} UTC/)).toBeVisible()
  const head = task.chat.getByRole('article').filter({ hasText: 'Count the parcels' })
  await expect(head).toContainText('Ada Lovelace')
  await expect(head.getByText('AL', { exact: true })).toBeVisible()
})

test('recorder L6: opens at the moment of a link, and the address names the moment that is shown', async () => {
  const { page, history, task } = await openFile({}, '#at=0')
  await expect(history.slider).toHaveAttribute('aria-valuenow', '1')
  await expect(task.chat).not.toContainText('Three are counted.')
  await page.keyboard.press('.')
  await expect(page).toHaveURL(/#at=1$/)
  await page.keyboard.press('End')
  await expect(page).toHaveURL(/#at=t?\d\d+$/)
  await page.reload()
  await expect(task.chat).toContainText('Two boxes are counted.')
  await page.evaluate(() => {
    window.location.hash = '#at=0'
  })
  await expect(history.slider).toHaveAttribute('aria-valuenow', '1')
})

test('shows the code changes and the images of a moment', async () => {
  const { page, history, task, dialogs, requests } = await openFile()
  await page.keyboard.press('End')
  await task.openChanges()
  await expect(task.diff).toContainText('boxes.txt')
  await expect(task.diff).toContainText('+box 2')
  await expect(task.diff).toContainText(hostile)
  await expect(page.getByRole('heading', { name: 'Changed Files (2)' })).toBeVisible()
  // Its bytes are in the file.
  const image = task.chat.getByRole('img', { name: 'boxes.png' })
  await expect(image).toHaveAttribute('src', /^data:image\/png;base64,/)
  await expect(image).toHaveJSProperty('naturalWidth', 320)
  await task.chat.getByRole('button', { name: /^3 tool calls/ }).click()
  await task.chat.getByRole('button', { name: /^Read .*shelf.png 1 image/ }).click()
  await expect(task.chat.getByRole('img', { name: 'shelf.png' })).toHaveAttribute('src', /^data:image\/png;/)
  await expect(task.diff.locator('[data-origin]')).toHaveCount(0)
  expect(await violations(page)).toEqual([])
  await history.button('Previous turn').click()
  await expect(task.diff).toContainText(hostile)
  await expect(task.diff).not.toContainText('boxes.txt')
  await page.keyboard.press('Home')
  await expect(page.getByText('At this moment the task had changed no files.')).toBeVisible()
  await page.keyboard.press('End')
  await history.open()
  await history.row('file changed').first().click()
  await history.button('Show in the changes').click()
  await expect(task.diff).toContainText(hostile)
  expect(dialogs).toEqual([])
  expect(
    requests.filter((request) => !/^(file|data):/.test(request.url())).map((each) => each.url()),
  ).toEqual([])
})

test('runs no script but its own, whatever a message holds, and has no token in it', async () => {
  const { page, task, dialogs, expectFault } = await openFile()
  await page.keyboard.press('End')
  await expect(task.chat).toContainText(hostile)
  expectFault(/Content Security Policy/)
  const ran = await page.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'document.body.dataset.ran = "yes"'
    document.body.append(script)
    return document.body.dataset['ran'] ?? 'no'
  })
  expect(ran).toBe('no')
  expect(dialogs).toEqual([])
  expect(await readFile(file, 'utf8')).not.toContain(ada.token)
})

test('tells the history, and offers nothing that needs a server', async () => {
  const { page, history, task } = await openFile()
  await page.keyboard.press('End')
  await history.open()
  await expect(history.heads).toHaveText([/Turn 1.*Count the parcels/, /Turn 2.*Count the boxes/])
  await history.row('Answer from Claude').first().click()
  await expect(task.chat).toContainText('Three are counted.')
  await expect(task.chat).not.toContainText('Two boxes are counted.')
  for (const name of ['Audit record', 'Save', 'Copy a link to this moment'])
    await expect(history.button(name)).toBeHidden()
  await history.button('Show in the terminal').click()
  await expect(task.terminal).toBeVisible()
  const turn = task.chat.getByRole('article').filter({ hasText: 'Three are counted.' })
  await turn.hover()
  await turn.getByRole('button', { name: 'Message menu' }).click()
  await expect(page.getByRole('menuitem')).toHaveText(['Copy Text'])
})

test('axe finds nothing', async () => {
  const { page, history, task } = await openFile()
  await page.keyboard.press('End')
  await expect(task.chat).toContainText('Two boxes are counted.')
  expect(await violations(page)).toEqual([])
  await history.open()
  await expect(history.heads).toHaveCount(2)
  expect(await violations(page)).toEqual([])
})

test('all of it fits a phone', async () => {
  const { page, task } = await openFile({ width: 390, height: 844, reducedMotion: true })
  await page.keyboard.press('End')
  await expect(task.chat).toContainText('Two boxes are counted.')
  expect(await violations(page)).toEqual([])
  expect(await overflowAt(page, 390)).toEqual([])
  await task.openChanges()
  await expect(task.diff).toContainText('boxes.txt')
  expect(await violations(page)).toEqual([])
  expect(await overflowAt(page, 390)).toEqual([])
})
