/** What a malicious agent can put on the page: names, output and messages that contain more than text. They are shown as text, and lead nowhere. */
import { afterAll, test } from 'vitest'
import { expect } from './expect.ts'
import { openTask } from './pages/task.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const names = [
  '<img src=x onerror=alert(1)>.js',
  'bidi\u202Esj.exe',
  'new\nline.js',
  'esc\u001B[31mred.js',
  'quo"te\'s.js',
  '--output=x',
  'a => b.js',
]
const inBash = (name: string) =>
  `$'./${[...Buffer.from(name)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`
const printed = [
  '\\e]0;a title\\a\\e[2J\\e[H',
  '<script>alert(2)</script>',
  'turned\\xe2\\x80\\xaearound',
  '\\e]8;;javascript:alert(3)\\aa link\\e]8;;\\a',
].join('')
const elsewhere = 'http://elsewhere.invalid/steal'
const words = [
  `![a picture](${elsewhere}?picture) <img src="${elsewhere}?img"> <script>alert(4)</script>`,
  '[a link](javascript:alert(5)) and [another](data:text/html,x)',
  `<iframe src="${elsewhere}?frame"></iframe>`,
].join('\n\n')

const stage = await openStage({
  repositories: { notes: { 'README.md': '# Notes\n' } },
  scripts: [
    {
      when: /Make trouble/,
      turns: [
        {
          tools: [
            {
              name: 'Bash',
              input: {
                command: `${names.map((name) => `echo '<b>x</b>' > ${inBash(name)}`).join('; ')}; printf '${printed}'`,
              },
            },
          ],
        },
        { text: words },
      ],
    },
  ],
})
afterAll(() => stage.close())

test('names, output and words of an agent are shown as text, and the page asks nobody for anything', async () => {
  const ada = await stage.product.signIn('ada')
  const { id } = await ada.task(await ada.project('notes'), 'Make trouble')
  await ada.taskOnce(id, ({ status }) => status === 'completed')
  const { page, requests } = await visiting(stage, { as: ada })
  const alerts: string[] = []
  page.on('dialog', (dialog) => {
    alerts.push(dialog.message())
    void dialog.dismiss()
  })
  const task = await openTask(page, id)
  await expect(task.chat).toContainText('a link')
  await expect(task.terminal).toContainText('<script>alert(2)</script>')
  await expect(task.terminal).toContainText('turned\uFFFDaround')
  await task.openChanges()
  await expect(page.getByRole('heading', { name: `Changed Files (${names.length})` })).toBeVisible()
  const files = page.getByRole('navigation', { name: 'Files' })
  for (const name of ['<img src=x onerror=alert(1)>.js', '--output=x', 'a => b.js'])
    await expect(files).toContainText(name)
  await expect(task.diff).toContainText('<b>x</b>')
  // A head stays above its own lines while they pass, and goes with the last of them.
  await page.setViewportSize({ width: 1440, height: 480 })
  const strayed = await task.diff.evaluate(async (box) => {
    box.scrollTop = 90
    await new Promise(requestAnimationFrame)
    if (box.scrollTop !== 90) throw new Error('There is too little to scroll.')
    const top = box.getBoundingClientRect().top
    return [...box.querySelectorAll('h3')].filter((head) => {
      const own = head.getBoundingClientRect()
      const file = head.closest('[data-index]')?.getBoundingClientRect()
      if (file === undefined) return true
      return Math.abs(own.top - Math.max(file.top, Math.min(top, file.bottom - 36))) > 1
    }).length
  })
  expect(strayed).toBe(0)
  await page.setViewportSize({ width: 1440, height: 900 })
  // A comment takes names and lines into the chat.
  for (const key of ['j', 'c']) await page.keyboard.press(key)
  await page.keyboard.type('Why this?')
  await page.keyboard.press('Control+Enter')
  await expect(task.chat).toContainText('Why this?')
  await expect(task.chat).toContainText('<b>x</b>')

  expect(await page.title()).not.toContain('a title')
  const links = await page.locator('a').evaluateAll((found) => found.map((link) => link.getAttribute('href')))
  expect(links.filter((href) => /^(javascript|data):/i.test(href ?? ''))).toEqual([])
  for (const tag of ['iframe', 'script:not([src])', `img[src^="${elsewhere}"]`])
    await expect(page.locator(`#root ${tag}`)).toHaveCount(0)
  // The code host has the picture of the person.
  const known = [stage.product.base, stage.product.codeHostUrl].map((address) => new URL(address).host)
  const asked = requests.map((request) => new URL(request.url()).host)
  expect(asked.filter((host) => !known.includes(host))).toEqual([])
  expect(alerts).toEqual([])
})
