/** `npm run screens`: the pictures in `docs/screens`, of the real product at work on a small repository. */
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright'
import { createPullRequest } from '#domain/api/tasks.ts'
import { createGate, type Script } from '../standins/messagesApi.ts'
import { expect } from './expect.ts'
import { pick } from './pages/dashboard.ts'
import { openTask } from './pages/task.ts'
import { fakeClock, parcelTracker, webhooks, webhookScripts } from './parcelTracker.ts'
import { openStage, type Stage } from './stage.ts'

const folder = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'docs/screens')
const still = { reducedMotion: true }

const held = createGate()
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
    description: 'Upgrade the gateway to HTTP/2 and keep the old health check',
    repository: 'telemetry-gateway',
    when: /Upgrade the gateway/,
    turns: [writes('src/server.js', 48), { text: 'The server is', hold: { afterWords: 2, gate: held } }],
  },
]

const stage = await openStage({
  repositories: {
    'parcel-tracker': parcelTracker,
    'ledger-api': { 'README.md': '# Ledger\n', 'src/ledger.js': 'export const ledger = []\n' },
    'telemetry-gateway': { 'README.md': '# Telemetry\n', 'src/server.js': 'export const port = 8080\n' },
  },
  scripts: [...webhookScripts, ...others],
})
try {
  await mkdir(folder, { recursive: true })
  await takeAll(stage)
} finally {
  await stage.close()
}

async function takeAll({ product, visit }: Stage): Promise<void> {
  const visitor = await visit(still)
  await visitor.page.goto('/auth')
  await expect(visitor.page.getByRole('button', { name: 'Continue with GitHub' })).toBeVisible()
  await take(visitor.page, 'sign-in')
  await visitor.leave()

  const ada = await product.signIn('ada')
  const projects = new Map<string, string>()
  for (const name of ['parcel-tracker', 'ledger-api', 'telemetry-gateway'])
    projects.set(name, await ada.project(name))
  for (const { description, repository } of others) {
    const { id } = await ada.task(projects.get(repository) ?? '', description)
    const { status } = await ada.taskOnce(
      id,
      ({ status, changes }) =>
        status === 'completed' || status === 'failed' || (status === 'running' && (changes?.files ?? 0) > 0),
    )
    if (status === 'completed' && !description.endsWith('?'))
      await ada.ask(createPullRequest, { params: { taskId: id }, body: {} })
  }

  const { id } = await ada.task(projects.get('parcel-tracker') ?? '', webhooks.description)
  const { page, leave } = await visit({ as: ada, ...still })
  const task = await openTask(page, id)
  await expect(task.status('Completed')).toBeVisible()
  await task.send(webhooks.followUp)
  await fakeClock.reached
  await expect(task.chat).toContainText('I correct the test')
  await task.send(webhooks.queued)
  await expect(task.chat).toContainText('1 message queued')
  await expect(task.header.getByText('+43')).toBeVisible()
  await expect(page.getByRole('list', { name: 'Notifications' })).toBeHidden()
  await take(page, 'task')
  await copyFile(join(folder, 'task-light.png'), join(folder, 'task.png'))
  await task.openChanges()
  await expect(task.diff).toContainText('backOff')
  await expect(page.getByRole('navigation', { name: 'Files' })).toContainText('+13')
  await expect(page.getByRole('button', { name: 'Refresh' })).toBeEnabled()
  await take(page, 'changes')

  await page.goto('/dashboard')
  await pick(page, 'Project', 'ada/parcel-tracker')
  await expect(page.getByRole('region', { name: 'Recent Tasks' }).getByRole('listitem')).toHaveCount(6)
  await take(page, 'dashboard')

  await page.setViewportSize({ width: 375, height: 812 })
  await openTask(page, id)
  await expect(task.chat).toContainText('I correct the test')
  await take(page, 'task-mobile')

  await page.setViewportSize({ width: 1440, height: 900 })
  await openTask(page, id)
  await task.chat.getByRole('button', { name: 'Withdraw' }).click()
  fakeClock.release()
  await expect(task.status('Completed')).toBeVisible()
  await page.getByRole('button', { name: 'Create PR' }).click()
  await page.getByRole('button', { name: 'Create pull request' }).click()
  await page.goto(
    (await task.chat.getByRole('link', { name: '/pull/' }).getAttribute('href')) ?? 'about:blank',
  )
  await expect(page.getByRole('button', { name: 'Merge pull request' })).toBeVisible()
  await take(page, 'pull-request')
  held.release()
  await leave()
}

/** A picture in each theme, of a page at which nobody points and nobody writes. */
async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0)
  await page.locator(':focus').evaluateAll((focused) => {
    for (const element of focused) if (element instanceof HTMLElement) element.blur()
  })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.evaluate(() => document.fonts.ready.then(() => true))
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), caret: 'hide' })
    process.stdout.write(`${name}-${colorScheme}.png\n`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

/** A turn that writes a file of so many lines. */
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
