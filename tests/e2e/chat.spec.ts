/** Talking with an agent that works: queued messages, stopping it, trying again, a person's own commands, and images. */
import type { Locator } from 'playwright'
import { afterAll, test } from 'vitest'
import { picture } from '../server/pictures.ts'
import { createGate, type Turn } from '../standins/messagesApi.ts'
import { expect } from './expect.ts'
import { pick } from './pages/dashboard.ts'
import { openTask, taskPage, type TaskPage } from './pages/task.ts'
import { openStage } from './stage.ts'
import { withSpeech } from '../standins/speech.ts'
import { visiting } from './visiting.ts'

const gates = { queue: createGate(), cancel: createGate() }
const long = `${'A sentence that goes on and on. '.repeat(12)}The very end.`
/** Until the test changes it, the model refuses. */
const refused: Turn[] = [{ fault: { status: 403, type: 'permission_error', message: 'This key may not.' } }]
const stage = await openStage({
  repositories: { notes: { 'README.md': '# Notes\n\nWhat there is to know.\n' } },
  scripts: [
    {
      when: /Start the notes/,
      turns: [{ text: 'I think about the notes.', hold: { afterWords: 2, gate: gates.queue } }],
    },
    { when: /Add the date/, turns: [{ text: 'The date is there.' }] },
    {
      when: /Take your time/,
      turns: [{ text: 'I take all the time there is.', hold: { afterWords: 2, gate: gates.cancel } }],
    },
    { when: /Go on/, turns: [{ text: 'I go on.' }] },
    { when: /Fail at first/, turns: refused },
    { when: /Look at/, turns: [{ text: 'I have looked.' }] },
    { when: /Say a lot/, turns: [{ text: long }] },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('notes')

test('a message that is sent while the agent works waits for its turn; it can be changed, moved and withdrawn', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Start the notes')
  const task = await openTask(page, id)
  await gates.queue.reached

  await task.send('Add the year')
  await task.send('Add a secret that nobody should read')
  await expect(task.chat).toContainText('2 messages queued, sent when this turn ends')
  const secret = waiting(task, 'Add a secret')
  await secret.getByRole('button', { name: 'Withdraw' }).click()
  await expect(secret).toContainText('Withdrawn')
  await expect(task.chat).toContainText('1 message queued, sent when this turn ends')
  await waiting(task, 'Add the year').getByRole('button', { name: 'Edit' }).click()
  const editor = task.chat.getByRole('textbox', { name: 'Queued message' })
  await editor.fill('Add the date')
  await editor.press('Enter')
  await task.send('Add the hour')
  const queue = task.chat.getByRole('list', { name: 'Queued messages' }).getByRole('listitem')
  const order = async () => (await queue.allInnerTexts()).filter((text) => !text.includes('Withdrawn'))
  await expect.poll(order).toEqual(['Add the date', 'Add the hour'])
  await waiting(task, 'Add the hour').getByRole('button', { name: 'Move message' }).press('ArrowUp')
  await expect.poll(order).toEqual(['Add the hour', 'Add the date'])
  // By hand, back to where it was.
  const from = await waiting(task, 'Add the hour').getByRole('button', { name: 'Move message' }).boundingBox()
  const to = await waiting(task, 'Add the date').boundingBox()
  if (from === null || to === null) throw new Error('The queue is not on the screen.')
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2)
  await page.mouse.down()
  await page.mouse.move(from.x + from.width / 2, to.y + to.height - 2, { steps: 5 })
  await page.mouse.up()
  await expect.poll(order).toEqual(['Add the date', 'Add the hour'])
  await waiting(task, 'Add the hour').getByRole('button', { name: 'Withdraw' }).click()
  await expect(waiting(task, 'Add the hour')).toContainText('Withdrawn')
  await page.reload()
  await expect(waiting(task, 'Add the date')).toBeVisible()

  gates.queue.release()
  await expect(task.chat).toContainText('I think about the notes.')
  await expect(task.chat).toContainText('The date is there.')
  await expect(task.status('Completed')).toBeVisible()
  await expect(waiting(task, 'Add the date')).toBeHidden()
  const told = stage.model.requests.map(({ body }) => JSON.stringify(body))
  expect(told.some((body) => body.includes('Add the date'))).toBe(true)
  expect(told.some((body) => body.includes('Add a secret'))).toBe(false)
})

test('an agent is stopped in the middle of a sentence, and goes on when it is asked to', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Take your time')
  const task = await openTask(page, id)
  await gates.cancel.reached
  await expect(task.chat).toContainText('I take')

  await task.header.getByRole('button', { name: 'Cancel' }).click()
  await expect(task.toast('Command execution cancelled')).toBeVisible()
  await expect(task.status('Cancelled')).toBeVisible()
  await expect(task.header.getByRole('button', { name: 'Cancel' })).toBeHidden()
  await expect(task.chat).toContainText('I take')

  await task.send('Go on')
  await expect(task.chat).toContainText('I go on.')
  await expect(task.status('Completed')).toBeVisible()
})

test('a turn that failed says why, and trying again makes it good', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Fail at first')
  const task = await openTask(page, id)
  await expect(task.status('Failed')).toBeVisible()
  const failure = task.chat.getByRole('alert')
  await expect(failure).toContainText('The turn failed')
  await expect(failure).toContainText("The model's API refused the key of this server")

  refused.splice(0, 1, { text: 'It worked this time.' })
  await failure.getByRole('button', { name: 'Try Again' }).click()
  await expect(task.status('Completed')).toBeVisible()
  await expect(failure).toBeHidden()
  // The question stays above both attempts at it.
  await expect(task.chat.getByRole('article')).toContainText([
    'Fail at first',
    'This key may not.',
    'It worked this time.',
  ])
})

test("a person's own commands run in the workspace, and tell how they ended", async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Say hello')
  const task = await openTask(page, id)
  await expect(task.status('Completed')).toBeVisible()

  await task.chat.getByRole('button', { name: 'Command mode' }).click()
  await expect(task.chat).toContainText('Press Escape to exit command mode.')
  await expect(task.composer).toHaveAttribute('placeholder', 'Enter command to execute...')
  await task.send('wc -l README.md && echo by hand > hand.txt')
  await expect(task.toast('Command execution started')).toBeVisible()
  // It hides nothing of what is printed.
  const told = await task.toast('Command execution started').boundingBox()
  const printed = await task.terminal.boundingBox()
  expect((told?.y ?? 0) + (told?.height ?? 0)).toBeLessThan(printed?.y ?? 0)
  await expect(task.terminal).toContainText('3 README.md')
  const ran = task.chat.getByRole('article').filter({ hasText: '$ wc -l README.md' })
  await expect(ran).toContainText('Completed')
  await task.send('exit 3')
  const failed = task.chat.getByRole('article').filter({ hasText: '$ exit 3' })
  await expect(failed).toContainText('Failed')
  await expect(task.toast('Command execution failed')).toBeVisible()
  await expect(task.status('Failed')).toBeVisible()

  await task.composer.press('Escape')
  await expect(task.composer).toHaveAttribute('placeholder', 'Create a new task...')
  await task.openChanges()
  await expect(task.diff).toContainText('+by hand')
})

test('messages are found by their words, and long ones are cut until more is asked for', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Say a lot')
  await ada.taskOnce(id, ({ status }) => status === 'completed')
  const task = await openTask(page, id)
  await expect(task.chat).not.toContainText('The very end.')
  await task.chat.getByRole('button', { name: 'Show more' }).click()
  await expect(task.chat).toContainText('The very end.')
  await task.chat.getByRole('button', { name: 'Show less' }).click()
  await expect(task.chat).not.toContainText('The very end.')

  await task.chat.getByRole('button', { name: 'Search messages' }).click()
  const search = task.chat.getByRole('searchbox', { name: 'Search messages' })
  await search.fill('very end')
  await expect(task.chat).toContainText('Found 1 message')
  await expect(task.chat.getByRole('article')).toHaveCount(1)
  await search.press('Escape')
  await expect(task.chat.getByRole('article')).toHaveCount(2)
})

// Holds screens 2.54c.
test('images come by picker, paste and drop, one after a second try, and everybody who looks sees them', async () => {
  const { page, expectFault } = await visiting(stage, { as: ada })
  expectFault(/upload\/image failed/)
  await page.goto('/dashboard')
  await pick(page, 'Project', 'ada/notes')
  const description = page.getByRole('textbox', { name: 'Task description' })
  await description.fill('Look at these')
  await page.route('**/upload/image', (route) => route.abort(), { times: 1 })
  const bytes = await picture('image/png', 320, 200)
  const file = { name: 'picked.png', mimeType: 'image/png', buffer: bytes }
  await page.locator('input[type=file]').setInputFiles([file])
  await expect(page.getByText('Upload failed')).toBeVisible()
  await page.getByRole('button', { name: 'Upload picked.png again' }).click()
  await handOver(description, 'paste', 'pasted.png', bytes)
  await handOver(page.getByRole('button', { name: 'Start Coding' }), 'drop', 'dropped.png', bytes)
  await expect(page.getByRole('list', { name: 'Attached images' }).getByRole('listitem')).toHaveCount(3)
  await page.getByRole('button', { name: 'Start Coding' }).click()
  await page.getByRole('link', { name: 'Look at these' }).click()
  const task = taskPage(page)
  await expect(task.chat).toContainText('Task Images (3 images)')
  await expect(task.chat).toContainText('I have looked.')
  const other = await visiting(stage, { as: ada })
  const seen = await openTask(other.page, page.url().split('/').at(-1) ?? '')
  await expect(seen.chat).toContainText('I have looked.')

  await page.locator('input[type=file]').setInputFiles([{ ...file, name: 'said.png' }])
  await task.send('Look at this too')
  for (const { chat } of [task, seen]) {
    await expect(chat.getByRole('button', { name: /^Open / })).toHaveCount(4)
    for (const name of ['picked.png', 'pasted.png', 'dropped.png', 'said.png'])
      await expect(chat.getByRole('img', { name })).toHaveJSProperty('naturalWidth', 320)
  }

  const thumbnail = seen.chat.getByRole('button', { name: 'Open pasted.png' })
  await thumbnail.press('Enter')
  const lightbox = other.page.getByRole('dialog', { name: 'Images' })
  await expect(lightbox).toContainText('pasted.png · 2 of 3')
  await other.page.keyboard.press('ArrowRight')
  await expect(lightbox).toContainText('dropped.png · 3 of 3')
  // What is a shortcut of the page is none here.
  await other.page.keyboard.press('c')
  await other.page.keyboard.press('Escape')
  await expect(lightbox).toBeHidden()
  await expect(thumbnail).toBeFocused()
  await expect(seen.header).toBeVisible()
})

test('what is being written stays where it is as the window gets narrow and wide again, with its image and the focus', async () => {
  const { page } = await visiting(stage, { as: ada, width: 1280 })
  const { id } = await ada.task(project, 'Look at the window')
  const task = await openTask(page, id)
  await expect(task.chat).toContainText('I have looked.')
  await task.openChanges()
  const bytes = await picture('image/png', 64, 64)
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'window.png', mimeType: 'image/png', buffer: bytes })
  const image = task.chat.getByRole('list', { name: 'Attached images' }).getByRole('listitem')
  await expect(image).toHaveCount(1)
  await task.composer.fill('Look at it on a phone')
  await task.composer.press('ArrowLeft')

  const caret = () => task.composer.evaluate((field: HTMLTextAreaElement) => field.selectionStart)
  const at = await caret()
  for (const width of [600, 1280, 600]) {
    await page.setViewportSize({ width, height: 800 })
    await expect(page.getByRole('tab', { name: 'Chat' })).toHaveCount(width === 600 ? 1 : 0)
    await expect(task.composer).toBeFocused()
    await expect(task.composer).toHaveValue('Look at it on a phone')
    expect(await caret()).toBe(at)
    await expect(image).toHaveCount(1)
  }
  // Where somebody reads the changes, these are shown.
  await page.setViewportSize({ width: 1280, height: 800 })
  await expect(page.getByRole('tab', { name: 'Chat' })).toHaveCount(0)
  await page.getByRole('tab', { name: 'Code Changes' }).focus()
  await page.setViewportSize({ width: 600, height: 800 })
  await expect(page.getByRole('tab', { name: 'Code Changes' })).toHaveAttribute('aria-selected', 'true')
  await expect(task.composer).toBeHidden()
})

test('what is spoken is written behind what is typed, and the microphone is given back', async () => {
  const { page } = await visiting(stage, { as: ada })
  const speech = await withSpeech(page)
  await page.goto('/dashboard')
  const description = page.getByRole('textbox', { name: 'Task description' })
  await description.fill('Write down')
  await page.keyboard.press('Control+Shift+M')
  await expect(page.getByRole('button', { name: 'Stop voice recording' })).toBeVisible()
  await expect.poll(() => speech.listens()).toBe(true)
  await speech.says('what there', true)
  await expect(description).toHaveValue('Write down what there')
  await speech.says('is to know', false)
  await expect(page.getByText('is to know')).toBeVisible()
  // The recogniser ends by itself: it is begun anew, and no word is lost.
  await speech.ends()
  await expect(description).toHaveValue('Write down what there is to know')
  await expect.poll(() => speech.begun()).toBe(2)
  await page.keyboard.press('Escape')
  await expect(page.getByText('Voice recording stopped. Your text has been saved.')).toBeVisible()
  await expect.poll(() => speech.listens()).toBe(false)

  await page.getByRole('button', { name: 'Start voice recording' }).click()
  await expect.poll(() => speech.listens()).toBe(true)
  await speech.fails('not-allowed')
  await expect(page.getByText('Microphone access denied. Please allow microphone permissions.')).toBeVisible()
  await expect.poll(() => speech.listens()).toBe(false)
  await page.reload()
  await expect(description).toHaveValue('Write down what there is to know')
})

/** Pastes or drops a file, as the system would: a browser lets no script fill its clipboard with one. */
async function handOver(to: Locator, how: 'paste' | 'drop', name: string, bytes: Buffer): Promise<void> {
  await to.evaluate(
    (element, { how, name, base64 }) => {
      const pixels = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
      const data = new DataTransfer()
      data.items.add(new File([pixels], name, { type: 'image/png' }))
      const init = { bubbles: true, cancelable: true }
      element.dispatchEvent(
        how === 'paste'
          ? new ClipboardEvent('paste', { ...init, clipboardData: data })
          : new DragEvent('drop', { ...init, dataTransfer: data }),
      )
    },
    { how, name, base64: bytes.toString('base64') },
  )
}

function waiting({ chat }: TaskPage, text: string) {
  return chat.getByRole('listitem').filter({ hasText: text })
}
