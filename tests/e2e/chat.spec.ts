/** Talking with an agent that works: messages that wait, stopping it, trying again, and commands of one's own. */
import { afterAll, test } from 'vitest'
import { createGate, type Turn } from '../standins/messagesApi.ts'
import { expect } from './expect.ts'
import { openTask, type TaskPage } from './pages/task.ts'
import { openStage } from './stage.ts'
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
    { when: /Say a lot/, turns: [{ text: long }] },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('notes')

test('a message that is sent while the agent works waits for its turn; one can be withdrawn', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Start the notes')
  const task = await openTask(page, id)
  await gates.queue.reached

  await task.send('Add the date')
  await task.send('Add a secret that nobody should read')
  await expect(task.chat).toContainText('2 messages queued, sent when this turn ends')
  const secret = waiting(task, 'Add a secret')
  await secret.getByRole('button', { name: 'Withdraw' }).click()
  await expect(secret).toBeHidden()
  await expect(task.chat).toContainText('1 message queued, sent when this turn ends')
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
  await expect(task.terminal).toContainText('3 README.md')
  const ran = task.chat.getByRole('article').filter({ hasText: '$ wc -l README.md' })
  await expect(ran).toContainText('Completed')
  await task.send('exit 3')
  const failed = task.chat.getByRole('article').filter({ hasText: '$ exit 3' })
  await expect(failed).toContainText('Failed')
  await expect(task.status('Completed')).toBeVisible()

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

function waiting({ chat }: TaskPage, text: string) {
  return chat.getByRole('listitem').filter({ hasText: text })
}
