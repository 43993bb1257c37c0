/** What a person sees of the files that an agent left for them: in the chat, in the replay, on a phone, and in a pull request's text. */
import { afterAll, test } from 'vitest'
import { bash } from '../standins/agentDoings.ts'
import { picture } from '../server/pictures.ts'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { historyPage } from './pages/history.ts'
import { openTask } from './pages/task.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const shot = (await picture('image/png', 60, 40)).toString('base64')
const folder = '.flightdeck/artifacts'
const stage = await openStage({
  repositories: { notes: { 'README.md': '# Notes\n' } },
  scripts: [
    {
      when: /^Show it/,
      turns: [
        {
          tools: [
            bash(
              `mkdir -p ${folder} && cd ${folder} && echo ${shot} | base64 -d > shot.png && echo '<b>all well</b>' > a-report-with-quite-a-long-name-for-a-phone.html && echo more >> ../../README.md`,
            ),
          ],
        },
        { text: 'This is how it looks.' },
      ],
    },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('notes')

test('a screenshot and a report are below the answer, in the replay at their moment, and in the pull request if asked', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Show it')
  const task = await openTask(page, id)
  await expect(task.status('Completed')).toBeVisible()
  const files = task.chat.getByRole('region', { name: 'Files from the agent' })
  const shown = files.getByRole('img', { name: 'shot.png' })
  const seeFiles = async () => {
    await expect.poll(() => shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(60)
    await expect(files.getByRole('link', { name: /^Download a-report/ })).toBeVisible()
  }
  await seeFiles()
  expect(await violations(page)).toEqual([])
  const address = await files.getByRole('link', { name: /^Open a-report/ }).getAttribute('href')
  const opened = await page.request.get(`${stage.product.base}${address}`)
  expect(opened.headers()['content-type']).toBe('text/plain; charset=utf-8')
  await page.setViewportSize({ width: 375, height: 812 })
  await seeFiles()
  expect(await overflowAt(page, 375)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 800 })
  await files.getByRole('button', { name: 'Open shot.png' }).click()
  await expect(page.getByRole('dialog', { name: 'Images' })).toBeVisible()
  await page.reload()
  await seeFiles()

  const history = historyPage(page)
  await history.open()
  await expect(history.row('Left a file')).toHaveCount(2)
  await history.row('Message from ada').first().click()
  await expect(history.bar).toBeVisible()
  await expect(files).toBeHidden()
  await page.keyboard.press('End')
  await seeFiles()

  await history.button('Back to live').click()
  await page.getByRole('button', { name: 'Create PR' }).click()
  await page.getByRole('checkbox', { name: 'Add 2 artifacts' }).check()
  await expect(page.getByRole('textbox', { name: 'Description' })).toHaveValue(
    /## Artifacts\n\n- .*shot\.png/s,
  )
  expect(await violations(page)).toEqual([])
})
