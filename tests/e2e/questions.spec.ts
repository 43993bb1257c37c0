/**
 * Questions of the real claude are answered in the page: on a phone while a desktop watches, and a plan that is sent back, approved and carried out.
 */
import type { Page } from 'playwright'
import { afterAll, test } from 'vitest'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { pick } from './pages/dashboard.ts'
import { historyPage } from './pages/history.ts'
import { openTask, taskPage } from './pages/task.ts'
import { planFile } from '../standins/messagesApi.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Write it' } })
const plan = (...steps: readonly string[]) => ({
  name: 'Write',
  input: { file_path: planFile, content: `## Steps\n\n${steps.join('\n\n')}\n` },
})
const offer = { name: 'ExitPlanMode', input: {} }
const option = (label: string, description: string, preview?: string) => ({
  label,
  description,
  ...(preview === undefined ? {} : { preview }),
})
const stage = await openStage({
  repositories: { walls: { 'README.md': '# Walls\n' } },
  scripts: [
    {
      when: /^Paint the wall/,
      turns: [
        {
          tools: [
            {
              name: 'AskUserQuestion',
              input: {
                questions: [
                  {
                    question: 'Which colour should it be?',
                    header: 'Colour',
                    multiSelect: false,
                    options: [
                      option('Red', 'Warm.', 'A **red** wall'),
                      option('Blue', 'Cold.', 'A **blue** wall'),
                    ],
                  },
                  {
                    question: 'Which sides?',
                    header: 'Sides',
                    multiSelect: true,
                    options: [option('Left', 'The one by the door.'), option('Right', 'The other.')],
                  },
                ],
              },
            },
          ],
        },
        { text: 'The wall is painted.' },
      ],
    },
    {
      when: /^Plan the wall/,
      turns: [
        { tools: [plan('Paint all of it at once.', 'Then clean up.')] },
        { tools: [offer] },
        { tools: [plan('Paint one side first.', 'Then clean up.')] },
        { tools: [offer] },
        { tools: [bash('echo painted > wall.txt')] },
        { text: 'The plan is carried out.' },
      ],
    },
    {
      when: /^Touch the wall/,
      turns: [{ tools: [bash('echo touched > touched.txt')] }, { text: 'The wall is touched.' }],
    },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('walls')
const phone = { width: 375, height: 812 }

const card = (page: Page, name: string | RegExp) => page.getByRole('article', { name })

test('a question is answered on a phone while a desktop page watches, and both are replayed', async () => {
  const { page: desk } = await visiting(stage, { as: ada })
  const hand = await visiting(stage, { as: ada, ...phone })
  await desk.goto('/dashboard')
  const { id } = await ada.task(project, 'Paint the wall')
  const row = desk.getByRole('listitem').filter({ hasText: 'Paint the wall' })
  await expect(row).toContainText('Waiting for you')
  await expect.poll(() => desk.title()).toMatch(/^\(1 waiting\) /)
  await desk.getByRole('link', { name: 'Paint the wall' }).click()
  const watched = taskPage(desk)
  await expect(watched.status('Waiting for you')).toBeVisible()
  await expect(watched.chat).toContainText('2 questions of the agent are open.')
  expect(await violations(desk)).toEqual([])

  const task = await openTask(hand.page, id)
  await expect(task.status('Waiting for you')).toBeVisible()
  await hand.page.getByRole('button', { name: 'Answer', exact: true }).click()
  const colour = card(hand.page, /Which colour/)
  await expect(colour).toBeFocused()
  await colour.getByText('Blue').click()
  await expect(colour).toContainText('A blue wall')
  await colour.getByRole('textbox').fill('Like the sea')
  expect(await violations(hand.page)).toEqual([])
  expect(await overflowAt(hand.page, phone.width)).toEqual([])
  // Nothing that was chosen or written is lost.
  await expect.poll(() => hand.page.evaluate(() => localStorage.getItem('answerDrafts'))).toContain('sea')
  await hand.page.reload()
  await expect(colour.getByRole('radio', { name: /^Blue/ })).toBeChecked()
  await colour.getByRole('button', { name: 'Send Answer' }).click()
  await expect(colour).toContainText('Answered by')
  await expect(card(desk, /Which colour/)).toContainText('Like the sea')
  await expect(card(desk, /Which colour/)).toContainText('On its way to the agent.')

  const sides = card(desk, /Which sides/)
  await sides.focus()
  await desk.keyboard.press('1')
  await desk.keyboard.press('2')
  await desk.keyboard.press('Control+Enter')
  await expect(watched.status('Completed')).toBeVisible()
  for (const page of [desk, hand.page]) {
    await expect(card(page, /Which sides/)).toContainText('Left, Right')
    await expect(card(page, /Which colour/)).toContainText('The agent got it while it waited.')
    await expect(taskPage(page).chat).toContainText('The wall is painted.')
  }
  const told = JSON.stringify(stage.model.requests.map(({ body }) => body))
  expect(told).toContain('Blue, Like the sea')

  const history = historyPage(desk)
  await history.open()
  await expect(history.row('Claude asked')).toHaveCount(2)
  await history.row('Claude asked').first().click()
  await expect(history.bar).toBeVisible()
  await expect(card(desk, /Which colour/)).toContainText('Waiting for an answer')
  await expect(card(desk, /Which colour/).getByRole('radio')).toHaveCount(0)
  await expect(watched.status('Waiting for you')).toBeVisible()
  await history.row('Answered').first().click()
  await expect(card(desk, /Which colour/)).toContainText('Answered by')
})

test('a plan is commented on, sent back, approved and carried out, and replayed', async () => {
  const { page } = await visiting(stage, { as: ada })
  await page.goto('/dashboard')
  await pick(page, 'Project', 'ada/walls')
  await pick(page, 'Mode', 'Plan first')
  await page.getByRole('textbox', { name: 'Task description' }).fill('Plan the wall')
  await page.getByRole('button', { name: 'Start Coding' }).click()
  await page.getByRole('link', { name: 'Plan the wall' }).click()
  const task = taskPage(page)
  const first = card(page, 'Plan to approve').first()
  await expect(first).toContainText('Paint all of it at once.')
  const passage = first.locator('[data-passage]').filter({ hasText: 'Paint all of it' })
  await passage.hover()
  await passage.getByRole('button', { name: 'Comment on this passage' }).click()
  await first.getByRole('textbox', { name: 'Your comment' }).fill('One side at a time.')
  await page.keyboard.press('Control+Enter')
  await expect(first).toContainText('1 comment to send back')
  // And on words that are selected.
  await first.getByText('Then clean up.').dblclick({ position: { x: 10, y: 8 } })
  await first.getByRole('button', { name: 'Comment', exact: true }).click()
  await first.getByRole('textbox', { name: 'Your comment' }).fill('When?')
  await first.getByRole('button', { name: 'Add Comment' }).click()
  expect(await violations(page)).toEqual([])
  await first.getByRole('button', { name: 'Send Back' }).click()
  await expect(first).toContainText('Sent back')

  const second = card(page, 'Plan to approve').nth(1)
  await expect(second).toContainText('Paint one side first.')
  const told = JSON.stringify(stage.model.requests.map(({ body }) => body))
  for (const words of ['> Paint all of it at once.', 'One side at a time.', '> Then', 'When?'])
    expect(told).toContain(words)
  await second.getByRole('button', { name: 'Approve', exact: true }).click()
  await expect(task.status('Completed')).toBeVisible()
  await expect(second).toContainText('Approved')
  await expect(task.chat).toContainText('The plan is carried out.')
  await expect(page.getByRole('combobox', { name: 'Mode: Work freely in the sandbox' })).toBeVisible()
  await task.openChanges()
  await expect(task.diff).toContainText('wall.txt')

  const history = historyPage(page)
  await history.open()
  for (const words of ['Claude offered a plan', 'Sent the plan back', 'Approved the plan', 'Mode chosen'])
    await expect(history.row(words).first()).toBeVisible()
  await history.row('Sent the plan back').click()
  await expect(first).toContainText('Sent back')
  await expect(second).toHaveCount(0)
})

test('a permission is asked for from the next turn on, and shows the exact command', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Say hello')
  const task = await openTask(page, id)
  await expect(task.status('Completed')).toBeVisible()
  await pick(page, 'Mode', 'Ask before each change')
  await expect(page.getByRole('combobox', { name: 'Mode: Ask before each change' })).toBeVisible()
  await task.send('Touch the wall')
  const asked = card(page, /^Permission/)
  await expect(asked.getByRole('region', { name: /^What it wants to do/ })).toHaveText(
    'echo touched > touched.txt',
  )
  await expect(asked).toContainText('Always in this task allows:')
  await asked.getByRole('button', { name: 'Allow', exact: true }).click()
  await expect(asked).toContainText('Allowed')
  await expect(task.status('Completed')).toBeVisible()
  await expect(task.chat).toContainText('The wall is touched.')
})
