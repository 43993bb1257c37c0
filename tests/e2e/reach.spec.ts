/** Accessibility: the main job with the keyboard alone, and nothing cut off in narrow windows, however long the names are. */
import type { Locator, Page } from 'playwright'
import { afterAll, test } from 'vitest'
import { updateProfile } from '#domain/api/auth.schema.ts'
import { getTask } from '#domain/api/tasks.schema.ts'
import { createGate } from '../standins/messagesApi.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { openPalette } from './pages/palette.ts'
import { taskPage } from './pages/task.ts'
import { completeOnboarding, signInAs } from './pages/signIn.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const long = (word: string, length: number) => `${word}-${'x'.repeat(length - word.length - 1)}`
const longRepository = long('repository', 100)
const held = createGate()
const stage = await openStage({
  repositories: {
    [longRepository]: { 'README.md': '# Long\n' },
    leaflet: { 'README.md': '# Leaflet\n' },
  },
  scripts: [
    { when: /Throw this away/, turns: [{ text: 'Nothing to do.' }] },
    {
      when: /Work for a while/,
      turns: [{ text: 'I look at `README.md` and **think** about it.', hold: { afterWords: 4, gate: held } }],
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
        { text: 'Written: see `README.md`.' },
      ],
    },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const longProject = await ada.project(longRepository)
const running = await ada.task(longProject, 'Work for a while')
const done = await ada.task(longProject, `Write it down ${'w'.repeat(180)}`)

test('a person who has only a keyboard gets from the sign-in to a pull request', async () => {
  const { page } = await visiting(stage)
  await page.goto('/')
  await press(page, 'Enter', page.getByRole('button', { name: 'Continue with GitHub' }))
  await press(page, 'Enter', page.getByRole('link', { name: 'Ada Lovelace' }))
  await expect(page).toHaveURL('/dashboard')

  await press(page, 'Enter', page.getByRole('link', { name: 'Projects', exact: true }))
  await press(page, 'Enter', page.getByRole('link', { name: 'Create New Project' }))
  await tabTo(page, page.getByRole('searchbox', { name: 'Search repositories...' }))
  await page.keyboard.type('leaflet')
  await expect(page.getByRole('radio')).toHaveCount(1)
  await press(page, 'Space', page.getByRole('radio', { name: 'ada/leaflet' }))
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL('/dashboard')

  await tabTo(page, page.getByRole('textbox', { name: 'Task description' }))
  await page.keyboard.type('Write it down for whoever types')
  await press(page, 'ArrowDown', page.getByRole('combobox', { name: 'Agent:' }))
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await press(page, 'Enter', page.getByRole('button', { name: 'Start Coding' }))
  await press(page, 'Enter', page.getByRole('link', { name: 'Write it down for whoever types' }))
  await expect(page.getByRole('heading', { name: 'Write it down for whoever types' })).toBeVisible()

  const task = taskPage(page)
  await expect(task.status('Completed')).toBeVisible()
  await press(page, 'ArrowRight', page.getByRole('tab', { name: 'Terminal' }))
  await expect(task.diff).toContainText('+Said in full.')
  await press(page, 'Enter', page.getByRole('button', { name: 'Create PR' }))
  await press(page, 'Enter', page.getByRole('button', { name: 'Create pull request' }))
  await expect(task.chat.getByRole('link', { name: '/pull/' })).toBeVisible()
})

test('by keys alone a task is found, deleted, brought back, and deleted for good as the page is left', async () => {
  const { id } = await ada.task(longProject, 'Throw this away')
  const { page } = await visiting(stage, { as: ada })
  const find = async (typed: string, option: string) => {
    const palette = await openPalette(page)
    await page.keyboard.type(typed)
    await expect(palette.getByRole('option', { selected: true })).toContainText(option)
    await page.keyboard.press('Enter')
    await expect(palette).toBeHidden()
  }
  const deleteIt = async () => {
    await find('throw away', 'Throw this away')
    await expect(page).toHaveURL(`/tasks/${id}`)
    await expect(page.getByRole('heading', { level: 1, name: 'Throw this away' })).toBeVisible()
    await find('delete', 'Delete task')
    await press(page, 'Enter', page.getByRole('dialog').getByRole('button', { name: 'Delete Task' }))
    // The toast stays while it is pointed at, however long the next page takes.
    await page.getByText('Task deleted').hover()
    await expect(page).toHaveURL('/dashboard')
    await expect(row).toBeHidden()
  }
  const row = page.getByRole('link', { name: 'Throw this away' })
  await page.goto('/projects')
  await expect(page.getByRole('link', { name: 'View Details' }).first()).toBeVisible()
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await expect(row).toBeVisible()
  await deleteIt()
  await page.keyboard.press('z')
  await expect(row).toBeVisible()

  await deleteIt()
  await page.reload()
  await expect(page.getByRole('region', { name: 'Recent Tasks' }).getByRole('listitem').first()).toBeVisible()
  await expect(row).toBeHidden()
  expect(await ada.refused(getTask, { params: { taskId: id } })).toMatchObject({ status: 404 })
})

test.each(['20', '80'])('nothing of a task is cut off when the chat has %s percent of it', async (share) => {
  const { page } = await visiting(stage, { as: ada })
  await page.addInitScript((kept) => localStorage.setItem('splitPosition', kept), share)
  await page.goto(`/tasks/${running.id}`)
  const search = taskPage(page).chat.getByRole('button', { name: 'Search messages' })
  await expect(search).toBeVisible()
  for (const width of [1440, 1024, 900]) {
    expect(await overflowAt(page, width)).toEqual([])
    const divider = await page.getByRole('separator', { name: 'Chat width' }).boundingBox()
    await expect
      .poll(async () => {
        const box = await search.boundingBox()
        return (box?.x ?? 0) + (box?.width ?? 0)
      })
      .toBeLessThanOrEqual(divider?.x ?? 0)
  }
})

test('nothing is cut off at 1280, 640 and 320 pixels, however long the names are', async () => {
  const person = await stage.product.signIn('ada')
  await person.ask(updateProfile, { body: { fullName: long('Ada', 180) } })
  const { page } = await visiting(stage, { as: person })
  await ada.taskOnce(done.id, ({ status }) => status === 'completed')
  const there: readonly (readonly [path: string, sign: string])[] = [
    ['/dashboard', 'What are we coding next?'],
    ['/projects', 'Manage Projects'],
    ['/projects/new', 'GitHub Integration'],
    [`/projects/${longProject}`, 'All Tasks (2)'],
    [`/tasks/${done.id}`, 'Write it down'],
    [`/tasks/${running.id}`, 'Work for a while'],
    ['/settings', 'Personal Information'],
    ['/settings?tab=github', 'Connected to GitHub'],
    ['/no/such/page', 'Page not found'],
  ]
  const found: string[] = []
  for (const [path, sign] of there) {
    await page.goto(path)
    await expect(page.getByRole('heading', { name: sign })).toBeVisible()
    for (const width of [1280, 640, 320])
      for (const what of await overflowAt(page, width)) found.push(`${path} at ${width}: ${what}`)
  }
  await page.goto(`/tasks/${done.id}`)
  // Of a phone at least 70 % are for what was said.
  await page.setViewportSize({ width: 375, height: 812 })
  await expect(page.getByText('of the context used')).toBeVisible()
  const tabs = await page.getByRole('tablist').boundingBox()
  const box = await page.getByRole('textbox', { name: 'Message' }).boundingBox()
  expect((box?.y ?? 0) - (tabs?.y ?? 0) - (tabs?.height ?? 0)).toBeGreaterThanOrEqual(0.7 * 812)
  await page.getByRole('tab', { name: 'Code Changes' }).click()
  await expect(page.getByRole('region', { name: 'Changes', exact: true })).toContainText('file-xxx')
  for (const width of [1280, 640, 320])
    for (const what of await overflowAt(page, width)) found.push(`changes at ${width}: ${what}`)
  expect(found).toEqual([])
})

// Holds screens 2.15b.
test('the top bar stays where pages scroll, and a task begins right below it', async () => {
  const { page } = await visiting(stage, { as: ada, height: 400 })
  const bar = page.getByRole('banner')
  await page.goto('/settings')
  await expect(page.getByRole('heading', { name: 'Personal Information' })).toBeVisible()
  await page.mouse.wheel(0, 2_000)
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(0)
  expect((await bar.boundingBox())?.y).toBe(0)

  await page.goto(`/tasks/${running.id}`)
  const header = page.getByRole('region', { name: 'Task', exact: true })
  await expect(header).toBeVisible()
  await page.mouse.wheel(0, 2_000)
  const top = await header.evaluate((element) => {
    const bars = document.querySelector('header')?.parentElement
    return element.getBoundingClientRect().top - (bars?.getBoundingClientRect().bottom ?? Number.NaN)
  })
  expect(top).toBe(0)
  expect(await page.evaluate(() => window.scrollY)).toBe(0)
})

test('in a window as low as a phone held sideways, a task scrolls to the button that sends', async () => {
  const { page } = await visiting(stage, { as: ada, width: 683, height: 314 })
  await page.goto(`/tasks/${running.id}`)
  const { composer, chat } = taskPage(page)
  await composer.fill('Say more\n'.repeat(8))
  const top = await page.getByRole('banner').boundingBox()
  const send = await chat.getByRole('button', { name: 'Send', exact: true }).boundingBox()
  const below = (send?.y ?? Number.NaN) + (send?.height ?? 0) - (top?.y ?? 0)
  expect(below).toBeLessThanOrEqual(await page.evaluate(() => document.documentElement.scrollHeight))
})

test('a newcomer completes the onboarding in a narrow window', async () => {
  const { page } = await visiting(stage, { width: 320, height: 640 })
  await page.goto('/auth')
  expect(await overflowAt(page, 320)).toEqual([])
  await signInAs(page, 'Grace Hopper')
  await expect(page.getByText('Step 1 of 2')).toBeVisible()
  expect(await overflowAt(page, 320)).toEqual([])
  await completeOnboarding(page)
  await expect(page).toHaveURL('/dashboard')
  expect(await overflowAt(page, 320)).toEqual([])
})

const mostTabs = 60

/** Tab until it has the focus, as far as a person would go. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible()
  for (let tabs = 0; tabs < mostTabs; tabs += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) {
      await expect(target).toBeInViewport()
      return
    }
    await page.keyboard.press('Tab')
  }
  throw new Error(`${mostTabs} times Tab do not lead to ${String(target)}.`)
}

async function press(page: Page, key: string, target: Locator): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press(key)
}
