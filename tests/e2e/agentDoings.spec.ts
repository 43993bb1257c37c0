/** What a person sees of an agent's work apart from its answers: its thoughts, and its to-do list. */
import { afterAll, test } from 'vitest'
import { bash, delegating, lookingAt, plan, planned } from '../standins/agentDoings.ts'
import { createGate } from '../standins/messagesApi.ts'
import { picture } from '../server/pictures.ts'
import { expect } from './expect.ts'
import { violations } from './axe.ts'
import { historyPage } from './pages/history.ts'
import { openTask } from './pages/task.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const working = createGate()
const looking = createGate()
const thinking = createGate()
const stage = await openStage({
  repositories: { notes: { 'README.md': '# Notes\n' } },
  scripts: [
    {
      when: /^Think/,
      turns: [{ thinking: 'Is it a note, or two? It is **one**.', text: 'It is one note.', pauseMs: 120 }],
    },
    {
      when: /^Ponder/,
      turns: [
        {
          thinking: 'Is it **a note**, or two?',
          text: 'It is one note.',
          hold: { afterWords: 4, gate: thinking },
        },
      ],
    },
    {
      when: /^Plan/,
      turns: [
        { tools: [plan('Read the notes'), plan('Write the note'), plan('Check it')] },
        { tools: [planned('1', 'completed'), planned('3', 'in_progress')] },
        { text: 'I write the note now.', hold: { afterWords: 2, gate: working } },
      ],
    },
    { when: /^Delegate/, turns: delegating },
    {
      when: /^Look around/,
      turns: [
        { text: 'I look **first**.', tools: [bash('echo looked')] },
        { text: 'Nothing here.', hold: { afterWords: 1, gate: looking } },
      ],
    },
    {
      when: /^Picture/,
      turns: [
        ...lookingAt('/workspace/shot.png', await picture('image/png', 60, 40)),
        { text: 'It is red.' },
      ],
    },
    { when: /^Go on/, turns: [{ text: 'There is nothing to plan.' }] },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('notes')

test('a thought is one quiet line until somebody reads it, by key too', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Think')
  const task = await openTask(page, id)
  await expect(task.status('Completed')).toBeVisible()
  await expect(task.chat).toContainText('It is one note.')
  const thought = task.chat.getByRole('button', { name: /^Thought for \d+s$/ })
  await expect(thought).toHaveAttribute('aria-expanded', 'false')
  await expect(task.chat).not.toContainText('Is it a note')
  await thought.focus()
  await page.keyboard.press('Enter')
  await expect(thought).toHaveAttribute('aria-expanded', 'true')
  await expect(task.chat).toContainText('Is it a note, or two? It is one.')
  expect(await violations(page)).toEqual([])
  await page.reload()
  await expect(task.chat.getByRole('button', { name: /^Thought for/ })).toBeVisible()
})

test('a thought can be read while it is written, and stays open when it is whole', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Go on')
  const task = await openTask(page, id)
  await expect(task.status('Completed')).toBeVisible()
  await task.send('Ponder')
  await thinking.reached
  const thought = task.chat.getByRole('button', { name: /^Thinking…/ })
  await expect(thought).toHaveAttribute('aria-expanded', 'false')
  await expect(task.chat).not.toContainText('Is it')
  await thought.click()
  await expect(task.chat).toContainText('Is it a note')
  expect(await violations(page)).toEqual([])
  thinking.release()
  await expect(task.status('Completed')).toBeVisible()
  await expect(task.chat).toContainText('Is it a note, or two?')
  await expect(task.chat.getByRole('button', { name: /^Thought/ })).toHaveAttribute('aria-expanded', 'true')
  await expect(thought).toHaveCount(0)
})

test('the to-do list is above the chat while the agent works, and folds to what comes next', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Plan')
  const task = await openTask(page, id)
  await working.reached
  const list = task.chat.getByRole('region', { name: 'To-do list of the agent' })
  const head = list.getByRole('button')
  await expect(head).toContainText('1 of 3')
  await expect(list.getByRole('listitem')).toContainText([
    'Done: Read the notes',
    'To do: Write the note',
    'In progress: Check it',
  ])
  expect(await violations(page)).toEqual([])
  await head.click()
  await expect(list.getByRole('listitem')).toHaveCount(0)
  await expect(head).toContainText('Check it')

  working.release()
  await expect(task.status('Completed')).toBeVisible()
  await expect(head).toContainText('1 of 3')
  await task.send('Go on')
  await expect(task.chat).toContainText('There is nothing to plan.')
  await expect(list).toBeHidden()
})

test('what a subagent does is under its own call: in sight while it works, folded when it is done', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Delegate')
  const task = await openTask(page, id)
  await looking.reached
  const call = task.chat.getByRole('button', { name: /^Agent Look 1 step/ })
  const below = task.chat.getByRole('button', { name: /^Ran echo looked/ })
  await expect(call).toHaveAttribute('aria-expanded', 'true')
  await expect(below).toBeVisible()
  looking.release()
  await expect(task.status('Completed')).toBeVisible()
  await task.chat.getByRole('button', { name: /^2 tool calls/ }).click()
  await expect(call).toHaveAttribute('aria-expanded', 'false')
  await expect(below).toBeHidden()
  await call.click()
  await expect(below).toBeVisible()
  const said = task.chat.getByRole('button', { name: /^Said/ })
  await expect(said).toHaveCount(1)
  await expect(said).toHaveAttribute('aria-expanded', 'false')
  await said.click()
  await expect(task.chat.locator('strong')).toHaveText('first')
  expect(await violations(page)).toEqual([])
})

test('a picture that the agent looked at is in the row of its call, and in the replay', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Picture')
  const task = await openTask(page, id)
  await expect(task.status('Completed')).toBeVisible()
  const shown = task.chat.getByRole('img', { name: 'shot.png' })
  const seePicture = async () => {
    await expect.poll(() => shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(60)
    await expect(task.chat).not.toContainText('[image]')
  }
  const unfold = async () => {
    await task.chat.getByRole('button', { name: /^2 tool calls/ }).click()
    await task.chat.getByRole('button', { name: /^Read shot.png 1 image/ }).click()
  }
  await unfold()
  await seePicture()
  expect(await violations(page)).toEqual([])
  await task.chat.getByRole('button', { name: 'Open shot.png' }).click()
  await expect(page.getByRole('dialog', { name: 'Images' })).toBeVisible()
  await page.reload()
  await unfold()
  await seePicture()

  const history = historyPage(page)
  await history.open()
  await history.row('Message from ada').first().click()
  await expect(history.bar).toBeVisible()
  await expect(shown).toBeHidden()
  await page.keyboard.press('End')
  await unfold()
  await seePicture()
})

test('how full the context is can be seen beside the composer, and in the replay', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Think again')
  const task = await openTask(page, id)
  await expect(task.status('Completed')).toBeVisible()
  const used = task.chat.getByTitle(/^[\d.]+k? of [\d.]+[km] tokens$/)
  await expect(used).toHaveText(/^\d+ % of the context used$/)
  expect(await violations(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(used).toBeVisible()
  await page.setViewportSize({ width: 1280, height: 800 })

  const history = historyPage(page)
  await history.open()
  await history.row('Message from ada').first().click()
  await expect(history.bar).toBeVisible()
  await expect(used).toBeHidden()
  await page.keyboard.press('End')
  await expect(used).toBeVisible()
})
