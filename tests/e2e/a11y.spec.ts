/** Accessibility: no violations of WCAG 2.2 AA on any page. Empty and refused pages are in the long tests. */
import type { Locator } from 'playwright'
import { afterAll, describe, test } from 'vitest'
import { createGate } from '../standins/messagesApi.ts'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { openPalette } from './pages/palette.ts'
import { openTask } from './pages/task.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const long = (word: string, length: number) => `${word}-${'x'.repeat(length - word.length - 1)}`
const phone = { width: 375, height: 812 }
const longRepository = long('repository', 100)
const held = createGate()
const stage = await openStage({
  repositories: {
    handbook: { 'README.md': '# Handbook\n\nHow we work.\n' },
    [longRepository]: { 'README.md': '# Long\n' },
    vault: {
      '.gitattributes': '*.psd filter=lfs\nkeys/** filter=git-crypt\n',
      '.gitmodules': '[submodule "theme"]\n\tpath = theme\n\turl = https://code.example/acme/theme.git\n',
      'keys/one': 'hidden\n',
      'logo.psd': 'a picture\n',
    },
  },
  scripts: [
    {
      when: /Work for a while/,
      turns: [
        {
          tools: [
            {
              name: 'Bash',
              input: { command: 'printf "\\033[31mred\\033[0m \\033[32mgreen\\033[0m\\n" >&2' },
            },
          ],
        },
        { text: 'I look at `README.md` and **think** about it.', hold: { afterWords: 4, gate: held } },
      ],
    },
    {
      when: /Rotate the keys/,
      turns: [{ tools: [{ name: 'Bash', input: { command: 'echo new > keys/one' } }] }, { text: 'Rotated.' }],
    },
    {
      when: /Write it down/,
      turns: [
        {
          tools: [
            { name: 'Bash', input: { command: 'echo "Said in full." >> README.md && rm -f nothing' } },
            { name: 'Bash', input: { command: `echo new > ${long('file', 180)}` } },
          ],
        },
        { text: 'Written: see `README.md`.\n\n```js\nconst answer = 42\n```\n' },
      ],
    },
  ],
})
afterAll(() => stage.close())
const grace = await stage.product.signIn('grace', { onboarding: 'left' })
const ada = await stage.product.signIn('ada')
const handbook = await ada.project('handbook')
const longProject = await ada.project(longRepository)
const running = await ada.task(handbook, 'Work for a while')
const done = await ada.task(longProject, `Write it down ${'w'.repeat(180)}`)

describe('axe finds nothing', () => {
  test('on the sign-in screen, with and without an error, and on the 404 page', async () => {
    const { page } = await visiting(stage, { reducedMotion: true })
    await page.goto('/auth')
    await expect(page.getByRole('heading', { name: 'Welcome Back' })).toBeVisible()
    expect(await violations(page)).toEqual([])
    await page.goto('/auth?error=server')
    await expect(page.getByRole('alert')).toBeVisible()
    expect(await violations(page)).toEqual([])
    await page.goto('/no/such/page')
    await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible()
    expect(await violations(page)).toEqual([])
  })

  // Holds contract 9.19.
  test('on both steps of the onboarding', async () => {
    const { page } = await visiting(stage, { as: grace, reducedMotion: true })
    await page.goto('/onboarding')
    await expect(page.getByText('Step 1 of 2')).toBeVisible()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Continue' }).click()
    await expect(page.getByText('Step 2 of 2')).toBeVisible()
    await page.getByRole('group', { name: 'Role' }).getByText('CTO').click()
    expect(await violations(page)).toEqual([])
  })

  test('on the dashboard, also while a picker is open', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    await page.goto('/dashboard')
    await expect(page.getByRole('region', { name: 'Recent Tasks' }).getByRole('listitem')).toHaveCount(2)
    expect(await violations(page)).toEqual([])
    await page.getByRole('combobox', { name: 'Project:' }).click()
    await expect(page.getByRole('option')).toHaveCount(2)
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('textbox', { name: 'Task description' }).fill('/')
    await expect(page.getByRole('listbox', { name: "The agent's commands" })).toBeVisible()
    expect(await violations(page)).toEqual([])
    await page.setViewportSize(phone)
    await expect(page.getByRole('listbox', { name: "The agent's commands" })).toBeVisible()
    expect(await violations(page)).toEqual([])
  })

  test('on the palette and on the sheet of shortcuts', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    await page.goto('/dashboard')
    await expect(page.getByRole('region', { name: 'Recent Tasks' }).getByRole('listitem')).toHaveCount(2)
    const palette = await openPalette(page)
    await expect(palette.getByRole('option').first()).toBeVisible()
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toBeHidden()
    await page.keyboard.press('?')
    await expect(page.getByRole('dialog')).toBeVisible()
    expect(await violations(page)).toEqual([])
  })

  test('on the pages of projects', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    await page.goto('/projects')
    await expect(page.getByRole('link', { name: 'View Details' })).toHaveCount(2)
    expect(await violations(page)).toEqual([])
    await page.goto(`/projects/${handbook}`)
    await expect(page.getByRole('heading', { name: 'All Tasks (1)' })).toBeVisible()
    expect(await violations(page)).toEqual([])
    await page.goto('/projects/new')
    await page.getByRole('radio', { name: 'ada/handbook' }).check()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Create New Repository' }).click()
    await expect(page.getByRole('textbox', { name: 'Repository Name' })).toBeVisible()
    expect(await violations(page)).toEqual([])
  })

  test('on a task that runs, and in command mode', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    const task = await openTask(page, running.id)
    await held.reached
    await expect(task.chat).toContainText('I look at')
    await task.send('One more thing')
    await expect(task.chat).toContainText('1 message queued')
    expect(await violations(page)).toEqual([])
    const message = task.chat.getByRole('textbox', { name: 'Message' })
    await message.fill('/c')
    await expect(task.chat.getByRole('listbox', { name: "The agent's commands" })).toBeVisible()
    expect(await violations(page)).toEqual([])
    await message.fill('')
    // Why an agent cannot be chosen is told to who has only keys.
    const other = task.chat.getByRole('button', { name: 'Cursor' })
    await other.focus()
    await page.keyboard.press('Enter')
    await expect(task.chat.getByRole('status').filter({ hasText: 'Cursor' })).toBeVisible()
    expect(await violations(page)).toEqual([])
    await task.chat.getByRole('button', { name: 'Command mode' }).click()
    expect(await violations(page)).toEqual([])
    await task.chat.getByRole('button', { name: 'Command mode' }).click()
    await page.setViewportSize(phone)
    // The chat is laid out anew as a tab, and the field with it.
    await expect(page.getByRole('tab', { name: 'Chat' })).toBeVisible()
    await message.fill('/c')
    await expect(task.chat.getByRole('listbox', { name: "The agent's commands" })).toBeVisible()
    expect(await violations(page)).toEqual([])
  })

  test('on a task that is done: its tools, its changes, its menus and questions', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    await ada.taskOnce(done.id, ({ status }) => status === 'completed')
    const task = await openTask(page, done.id)
    await task.chat.getByRole('button', { name: '2 tool calls' }).click()
    await task.chat.getByRole('button', { name: 'Ran echo "Said in full."' }).click()
    expect(await violations(page)).toEqual([])
    await task.openChanges()
    await expect(task.diff).toContainText('+Said in full.')
    expect(await violations(page)).toEqual([])
    // Side by side, with what is looked for marked and a comment begun on the line.
    await page.getByRole('button', { name: 'Split' }).click()
    await page.getByRole('button', { name: 'Find in changes' }).click()
    await page.keyboard.type('said')
    await expect(page.getByRole('search')).toContainText('1 of 1')
    await page.keyboard.press('Tab')
    await page.keyboard.press('j')
    await expect(task.diff.getByRole('group', { name: /^Added line/ })).toBeFocused()
    await page.keyboard.press('c')
    await expect(page.getByRole('textbox', { name: /^Comment to Claude on/ })).toBeFocused()
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Task actions' }).click()
    await expect(page.getByRole('menuitem', { name: 'Delete Task' })).toBeVisible()
    expect(await violations(page)).toEqual([])
    await page.getByRole('menuitem', { name: 'Delete Task' }).click()
    await expect(page.getByRole('dialog')).toContainText('Are you sure you want to delete this task?')
    expect(await violations(page)).toEqual([])
  })

  test('on both tabs of the settings', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    await page.goto('/settings')
    await expect(page.getByRole('heading', { name: 'Personal Information' })).toBeVisible()
    expect(await violations(page)).toEqual([])
    await page.getByRole('tab', { name: 'GitHub' }).click()
    await expect(page.getByText('Organizations', { exact: true })).toBeVisible()
    expect(await violations(page)).toEqual([])
  })

  test('on what a repository is and how its tasks may publish, by keyboard alone', async () => {
    const { page, expectFault } = await visiting(stage, { as: ada, reducedMotion: true })
    expectFault(/\/pr answered/)
    const vault = await ada.project('vault')
    const { id } = await ada.task(vault, 'Rotate the keys')
    await ada.taskOnce(id, ({ status }) => status === 'completed')
    await page.goto(`/projects/${vault}`)
    await page.getByRole('link', { name: 'Details' }).focus()
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Enter')
    await expect(page.getByRole('region', { name: 'Repository' })).toContainText('Git LFS')
    const drafts = page.getByRole('region', { name: 'Pull Requests', exact: true })
    await drafts.getByRole('checkbox').focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect(drafts.getByRole('button', { name: 'Save Changes' })).toBeDisabled()
    await expect(drafts.getByRole('checkbox')).toBeChecked()
    for (const size of [phone, { width: 1440, height: 900 }]) {
      await page.setViewportSize(size)
      expect(await violations(page)).toEqual([])
      expect(await overflowAt(page, size.width)).toEqual([])
    }

    await openTask(page, id)
    await page.getByRole('button', { name: 'Create PR' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create pull request' }).focus()
    await page.keyboard.press('Enter')
    await expect(page.getByRole('list', { name: 'Notifications' })).toContainText('git-crypt')
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Create PR' }).focus()
    await page.keyboard.press('Enter')
    await expect(dialog.getByRole('alert')).toContainText('keys/one')
    expect(await violations(page)).toEqual([])
    await page.setViewportSize(phone)
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect(dialog).toBeHidden()
  })

  test('on an import that has to wait, and on what was installed just now', async () => {
    const { page, expectFault } = await visiting(stage, { as: ada, reducedMotion: true })
    expectFault(/github\/repos\S* answered 429/)
    const answer = (path: string, status: number, body: unknown) =>
      page.route(path, (route) => route.fulfill({ status, headers: { 'retry-after': '90' }, json: body }))
    await answer('**/api/github/repos*', 429, { error: 'GitHub asks to wait.', code: 'rate_limited' })
    await page.goto('/projects/new')
    await expect(page.getByRole('timer')).toContainText('Try again in 1m')
    expect(await violations(page)).toEqual([])
    await page.unrouteAll()
    await answer('**/api/github/access*', 200, {
      app: { name: 'Deck', installUrl: '/i', manageUrl: '/m', isPublic: false },
      installations: [
        {
          id: '7',
          account: 'acme',
          isOrganization: true,
          repositories: 'all',
          selected: null,
          isCut: false,
          count: 3,
          isSuspended: false,
          missing: [],
          url: '/c',
        },
      ],
      more: 0,
      requests: [],
    })
    await page.goto('/settings?tab=github&installation_id=7')
    await expect(page.getByText('The App is installed for acme')).toBeVisible()
    expect(await violations(page)).toEqual([])
    await page.getByRole('link', { name: 'Create Project' }).focus()
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/projects\/new$/)
  })
})

describe('where the system sets the colours', () => {
  /** Whether an element has the background by which the system tells what is selected. */
  const isMarked = (element: Locator) =>
    element.evaluate((shown) => {
      const sample = document.createElement('span')
      sample.style.cssText = 'background: Highlight; forced-color-adjust: none'
      document.body.append(sample)
      const { backgroundColor } = getComputedStyle(sample)
      sample.remove()
      return getComputedStyle(shown).backgroundColor === backgroundColor
    })
  const outlineOf = (element: Locator) => element.evaluate((shown) => getComputedStyle(shown).outlineStyle)

  test('what is chosen, active or focused is told apart, and what floats has an edge', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    await page.emulateMedia({ forcedColors: 'active' })
    const task = await openTask(page, running.id)
    const divider = page.getByRole('separator', { name: 'Chat width' })
    await divider.focus()
    await page.keyboard.press('ArrowRight')
    expect(await outlineOf(divider)).toBe('solid')
    const agents = task.chat.getByRole('group', { name: 'Agent for the next message' })
    expect(await isMarked(agents.getByRole('button', { pressed: true }))).toBe(true)
    expect(await isMarked(agents.getByRole('button', { pressed: false }).first())).toBe(false)
    await page.getByRole('button', { name: 'Task actions' }).press('Enter')
    await expect(page.getByRole('menuitem').first()).toBeFocused()
    expect(await isMarked(page.getByRole('menuitem').first())).toBe(true)
    expect(await isMarked(page.getByRole('menuitem').last())).toBe(false)
    expect(await outlineOf(page.getByRole('menu'))).toBe('solid')

    await page.goto('/dashboard')
    await page.getByRole('combobox', { name: 'Project:' }).click()
    await expect(page.getByRole('option').first()).toBeVisible()
    await page.keyboard.type('handbook')
    await expect(page.getByRole('option')).toHaveCount(1)
    expect(await isMarked(page.getByRole('option'))).toBe(true)
    await page.keyboard.press('Escape')
    const palette = await openPalette(page)
    expect(await isMarked(palette.getByRole('option', { selected: true }))).toBe(true)
    expect(await isMarked(palette.getByRole('option', { selected: false }).first())).toBe(false)
    expect(await outlineOf(palette)).toBe('solid')
  })

  test('the chosen role of a newcomer is told apart', async () => {
    const { page } = await visiting(stage, { as: grace, reducedMotion: true })
    await page.emulateMedia({ forcedColors: 'active' })
    await page.goto('/onboarding')
    await page.getByRole('button', { name: 'Continue' }).click()
    const role = page.getByRole('group', { name: 'Role' })
    await role.getByText('CTO', { exact: true }).click()
    expect(await isMarked(role.getByText('CTO', { exact: true }))).toBe(true)
    expect(await isMarked(role.getByText('Developer', { exact: true }))).toBe(false)
  })
})
