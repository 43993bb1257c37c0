/** No violations of WCAG 2.2 AA on pages that have nothing to show, or that the server refuses. */
import type { Page } from 'playwright'
import { afterAll, test } from 'vitest'
import { violations } from '../../e2e/axe.ts'
import { expect } from '../../e2e/expect.ts'
import { openStage } from '../../e2e/stage.ts'
import { isApi } from '../../e2e/visit.ts'
import { visiting } from '../../e2e/visiting.ts'

const stage = await openStage({ repositories: { handbook: { 'README.md': '# Handbook\n' } } })
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const handbook = await ada.project('handbook')
const done = await ada.task(handbook, 'Write it down')
await ada.taskOnce(done.id, ({ status }) => status === 'completed')

/** What every call answers, by the end of its path: who is signed in is always answered by the server. */
type Answers = Readonly<Record<string, { readonly status: number; readonly json: unknown }>>

const nothing: Answers = {
  '/tasks': { status: 200, json: { tasks: [], next: null } },
  '/projects': { status: 200, json: { projects: [], next: null } },
  '/github/repos': { status: 200, json: { repositories: [] } },
  '/github/orgs': { status: 200, json: { organizations: [] } },
}
const refused = { status: 500, json: { error: 'A part of the server is away.', code: 'unavailable' } }

/** Answers calls in the server's place: those that are named, or all but who is signed in. */
async function answering(page: Page, answers: Answers | 'refused'): Promise<void> {
  await page.route(
    (address) => isApi(address.href) && !/\/api\/(auth\/me|notices)$/.test(address.pathname),
    async (route) => {
      const path = new URL(route.request().url()).pathname.replace(/^\/api/, '')
      const answer = answers === 'refused' ? refused : answers[path]
      await (answer === undefined ? route.fallback() : route.fulfill(answer))
    },
  )
}

const task = `/tasks/${done.id}`
const project = `/projects/${handbook}`

const empty = [
  ['/dashboard', 'No tasks yet'],
  ['/projects', 'Ready to Start Building?'],
  ['/projects/new', 'No Repositories Found'],
  [project, 'No tasks yet'],
  ['/tasks', 'Tasks page coming soon...'],
  ['/settings?tab=github', 'Connected to GitHub'],
] as const

test('axe finds nothing where there is nothing', async () => {
  const { page } = await visiting(stage, { as: ada, reducedMotion: true })
  await answering(page, nothing)
  expect(await violationsAt(page, empty)).toEqual([])
})

const broken = [
  ['/dashboard', 'Failed to fetch projects'],
  ['/projects', 'A part of the server is away.'],
  ['/projects/new', 'Failed to fetch repositories'],
  [project, 'A part of the server is away.'],
  [task, 'Error Loading Task'],
  ['/settings?tab=github', 'Failed to fetch GitHub data'],
] as const

test('axe finds nothing where the server refuses', async () => {
  const { page, expectFault } = await visiting(stage, { as: ada, reducedMotion: true })
  expectFault(/answered 500/)
  await answering(page, 'refused')
  expect(await violationsAt(page, broken)).toEqual([])
})

/** What is found on each page, once it says what it should. */
async function violationsAt(
  page: Page,
  places: readonly (readonly [path: string, sign: string])[],
): Promise<readonly string[]> {
  const found: string[] = []
  for (const [path, sign] of places) {
    await page.goto(path)
    await expect(page.getByText(sign).first()).toBeVisible()
    for (const violation of await violations(page)) found.push(`${path}: ${violation}`)
  }
  return found
}
