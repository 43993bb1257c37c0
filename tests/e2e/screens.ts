/** `npm run screens`: takes the pictures in `docs/screens`, of the real product working on a small repository. */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright'
import sharp from 'sharp'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import type { Person } from '../product/person.ts'
import { createGate, type Script } from '../standins/messagesApi.ts'
import { expect } from './expect.ts'
import { pick } from './pages/dashboard.ts'
import { openPalette } from './pages/palette.ts'
import { openTask } from './pages/task.ts'
import { fakeClock, parcelTracker, webhooks, webhookScripts } from './parcelTracker.ts'
import { openStage, type Stage } from './stage.ts'

const folder = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'docs/screens')
const still = { reducedMotion: true }
/** Widths and heights in CSS pixels: a desktop, a tablet and a phone. */
const sizes = [
  [1440, 900],
  [768, 1024],
  [375, 812],
] as const

const held = createGate()
/** The task that is running in every picture. */
const goingOn = 'Upgrade the gateway to HTTP/2 and keep the old health check'
const others: readonly (Script & { readonly description: string; readonly repository: string })[] = [
  {
    description: 'Pin the CI actions to commit hashes',
    repository: 'telemetry-gateway',
    when: /Pin the CI/,
    turns: [writes('ci.yml', 21)],
  },
  {
    description: 'Replace moment with Intl in the invoice templates',
    repository: 'ledger-api',
    when: /Replace moment/,
    turns: [writes('src/dates.js', 88)],
  },
  {
    description: 'Move the preference centre to the shared form components',
    repository: 'ledger-api',
    when: /Move the preference/,
    turns: [{ fault: { status: 400, type: 'invalid_request_error', message: 'The prompt is too long.' } }],
  },
  {
    description: 'Why does the nightly import drop the last row of a file without a final newline?',
    repository: 'ledger-api',
    when: /Why does the nightly/,
    turns: [{ text: 'The reader splits at newlines, and forgets what is left after the last one.' }],
  },
  {
    description: goingOn,
    repository: 'telemetry-gateway',
    when: /Upgrade the gateway/,
    turns: [writes('src/server.js', 48), { text: 'The server is', hold: { afterWords: 2, gate: held } }],
  },
]

const stage = await openStage({
  repositories: {
    'parcel-tracker': described('Where every parcel is, and who is told', parcelTracker),
    'ledger-api': described('Invoices, payments and what became of them', {
      'README.md': '# Ledger\n',
      'src/ledger.js': 'export const ledger = []\n',
    }),
    'telemetry-gateway': described('Takes in what devices measure', {
      'README.md': '# Telemetry\n',
      'src/server.js': 'export const port = 8080\n',
    }),
  },
  scripts: [...webhookScripts, ...others],
})
/** The names of the pictures that were taken, in order. */
const taken: string[] = []
try {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await takeAll(stage)
  await writeFile(join(folder, 'README.md'), index(taken))
} finally {
  await stage.close()
}

async function takeAll(on: Stage): Promise<void> {
  await atTheDoor(on)
  const ada = await on.product.signIn('ada')
  await whereThereIsNothing(on, ada)
  const projects = await seeded(ada)
  await atWork(on, ada, projects)
  await amongProjects(on, ada, projects)
  held.release()
}

/** The pictures before the sign-in, and of the first steps after it. */
async function atTheDoor({ product, visit }: Stage): Promise<void> {
  const visitor = await visit(still)
  await visitor.page.goto('/auth')
  await expect(visitor.page.getByRole('button', { name: 'Continue with GitHub' })).toBeVisible()
  await take(visitor.page, 'sign-in')
  await visitor.page.goto('/auth?error=github')
  await expect(visitor.page.getByRole('alert')).toBeVisible()
  await take(visitor.page, 'sign-in-error')
  await visitor.leave()

  const { page, leave } = await visit({ as: await product.signIn('grace', { onboarding: 'left' }), ...still })
  await page.goto('/onboarding')
  await expect(page.getByText('Step 1 of 2')).toBeVisible()
  await take(page, 'onboarding-1')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('group', { name: 'Role' }).getByText('Developer').click()
  await take(page, 'onboarding-2')
  await leave()
}

async function whereThereIsNothing({ visit }: Stage, ada: Person): Promise<void> {
  const { page, leave } = await visit({ as: ada, ...still })
  for (const [path, sign, name] of [
    ['/dashboard', 'No tasks yet', 'dashboard-empty'],
    ['/projects', 'Ready to Start Building?', 'projects-empty'],
    ['/tasks', 'Tasks page coming soon...', 'tasks'],
    ['/no/such/page', 'Page not found', 'not-found'],
  ] as const) {
    await page.goto(path)
    await expect(page.getByText(sign).first()).toBeVisible()
    await take(page, name)
  }
  await leave()
}

/** Creates projects with tasks that ended in every way; returns their ids by the names of their repositories. */
async function seeded(ada: Person): Promise<ReadonlyMap<string, string>> {
  const projects = new Map<string, string>()
  for (const name of ['parcel-tracker', 'ledger-api', 'telemetry-gateway'])
    projects.set(name, await ada.project(name))
  for (const { description, repository } of others) {
    const { id } = await ada.task(projects.get(repository) ?? '', description)
    const goesOn = description === goingOn
    const { status } = await ada.taskOnce(id, ({ status, changes }) =>
      goesOn ? (changes?.files ?? 0) > 0 : status === 'completed' || status === 'failed',
    )
    if (status === 'completed' && !description.endsWith('?'))
      await ada.ask(createPullRequest, { params: { taskId: id }, body: {} })
  }
  return projects
}

/** The pictures of one task, from its first message to its pull request. */
async function atWork({ visit }: Stage, ada: Person, projects: ReadonlyMap<string, string>): Promise<void> {
  const { id } = await ada.task(projects.get('parcel-tracker') ?? '', webhooks.description)
  const { page, leave } = await visit({ as: ada, ...still })
  const task = await openTask(page, id)
  await expect(task.status('Completed')).toBeVisible()
  await task.send(webhooks.followUp)
  await fakeClock.reached
  await expect(task.chat).toContainText('I correct the test')
  await task.send(webhooks.queued)
  await expect(task.chat).toContainText('1 message queued')
  await expect(task.header.getByText('+43').first()).toBeVisible()
  await expect(page.getByRole('list', { name: 'Notifications' })).toBeHidden()
  await take(page, 'task')
  await copyFile(join(folder, 'task-1440-light.png'), join(folder, 'task.png'))
  await take(page, 'terminal', { before: () => task.openTerminal() })
  await task.openChanges()
  await expect(task.diff).toContainText('backOff')
  await take(page, 'changes', { before: () => task.openChanges() })

  await page.goto('/dashboard')
  await pick(page, 'Project', 'ada/parcel-tracker')
  await expect(page.getByRole('region', { name: 'Recent Tasks' }).getByRole('listitem')).toHaveCount(6)
  await take(page, 'dashboard')
  const palette = await openPalette(page)
  await palette.getByRole('combobox').fill('web')
  await take(page, 'palette', { focused: true })
  await page.keyboard.press('Escape')
  await blur(page)
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog')).toBeVisible()
  await take(page, 'shortcuts', { focused: true })

  await openTask(page, id)
  await task.chat.getByRole('button', { name: 'Withdraw' }).click()
  fakeClock.release()
  await expect(task.status('Completed')).toBeVisible()
  await page.getByRole('button', { name: 'Create PR' }).click()
  await expect(page.getByRole('dialog').getByRole('textbox', { name: 'Title' })).toBeVisible()
  await take(page, 'pull-request-dialog', { focused: true })
  await page.getByRole('button', { name: 'Create pull request' }).click()
  await page.goto(
    (await task.chat.getByRole('link', { name: '/pull/' }).getAttribute('href')) ?? 'about:blank',
  )
  await expect(page.getByRole('button', { name: 'Merge pull request' })).toBeVisible()
  await take(page, 'pull-request')
  await leave()
}

async function amongProjects(
  { visit }: Stage,
  ada: Person,
  projects: ReadonlyMap<string, string>,
): Promise<void> {
  const { page, leave } = await visit({ as: ada, ...still })
  const project = `/projects/${projects.get('ledger-api')}`
  for (const [path, sign, name] of [
    ['/projects', 'Total Projects', 'projects'],
    ['/projects/new', 'repositories found', 'project-import'],
    [project, 'All Tasks', 'project'],
    [`${project}/settings`, 'Setup', 'project-settings'],
    ['/settings', 'Personal Information', 'settings'],
    ['/settings?tab=github', 'Accessible Repositories', 'settings-github'],
  ] as const) {
    await page.goto(path)
    await expect(page.getByText(sign).first()).toBeVisible()
    await take(page, name)
  }
  await page.goto('/projects/new')
  await page.getByRole('button', { name: 'Create New Repository' }).click()
  await expect(page.getByRole('textbox', { name: 'Repository Name' })).toBeVisible()
  await take(page, 'project-new')
  await leave()
}

interface Taking {
  /** Restores what the picture shows, after the window has changed its width. */
  readonly before?: () => Promise<unknown>
  /** Whether the page keeps its focus, because the person is using it. */
  readonly focused?: boolean
}

/** Takes a picture in each width and theme, without the pointer on the page. */
async function take(page: Page, name: string, { before, focused = false }: Taking = {}): Promise<void> {
  taken.push(name)
  await page.mouse.move(0, 0)
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height })
    await before?.()
    if (!focused) await blur(page)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.evaluate(() => document.fonts.ready.then(() => true))
      const picture = await page.screenshot({ caret: 'hide' })
      // The page has few colours, so a palette loses nothing visible.
      await sharp(picture)
        .png({ palette: true, colours: 128, effort: 10 })
        .toFile(join(folder, fileOf(name, width, colorScheme)))
    }
    await page.emulateMedia({ colorScheme: 'light' })
  }
  await page.setViewportSize({ width: sizes[0][0], height: sizes[0][1] })
  process.stdout.write(`${name}\n`)
}

function blur(page: Page): Promise<void> {
  return page.locator(':focus').evaluateAll((focused) => {
    for (const element of focused) if (element instanceof HTMLElement) element.blur()
  })
}

function fileOf(name: string, width: number, theme: 'light' | 'dark'): string {
  return `${name}-${width}-${theme}.png`
}

/** The page that shows all pictures. */
function index(names: readonly string[]): string {
  const picture = (name: string, width: number, theme: 'light' | 'dark') =>
    `![${name}-${width}-${theme}](${fileOf(name, width, theme)})`
  const looks = (['light', 'dark'] as const).flatMap((theme) => sizes.map(([width]) => ({ width, theme })))
  const headings = looks.map(({ width, theme }) => `${width}-${theme}`)
  const parts = names.map((name) => {
    const pictures = looks.map(({ width, theme }) => picture(name, width, theme))
    const row = (cells: readonly string[]) => `|${cells.join('|')}|`
    return `## ${name}\n\n${[row(headings), row(pictures.map(() => '---')), row(pictures)].join('\n')}\n`
  })
  return `# The screens\n\nEach 1440, 768 and 375 pixels wide, light and dark, as \`npm run screens\` takes them of the product at work.\n\n${parts.join('\n')}`
}

/** A repository with its owner's description. */
function described(words: string, files: Readonly<Record<string, string>>) {
  return { ...files, '.git/description': words }
}

/** A turn that writes a file with this many lines. */
function writes(path: string, lines: number) {
  const content = Array.from({ length: lines }, (_, line) => `// line ${line + 1}\n`).join('')
  return {
    text: `I write ${path}.`,
    tools: [
      {
        name: 'Bash',
        input: { command: `mkdir -p $(dirname ${path}) && cat > ${path} <<'END'\n${content}END` },
      },
    ],
  }
}
