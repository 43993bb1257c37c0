/** A repository and an agent with too much of everything: what is too much is cut, or refused in a sentence, and the page still works. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPullRequest, executeTask, getTask, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { gitDone, localRepository } from '../../contracts/codeHost.fixture.ts'
import { openChromium } from '../../e2e/chromium.ts'
import { openVisit } from '../../e2e/visit.ts'
import { runToItsEnd } from '../../hostile/traps.ts'
import type { Person } from '../../product/person.ts'
import { cleanEnvironment, ownFolder, startProduct, type Product } from '../../product.ts'
import { note } from '../../report/notes.ts'
import { startMessagesApi, type MessagesApi } from '../../standins/messagesApi.ts'
import { bareRepository } from '../../server/pushing.ts'
import { hasEnded } from '../../server/scene.ts'

const [folders, filesInEach] = [100, 1_000]
const withinMs = 600_000

let folder = ''
let api: MessagesApi
let product: Product
let ada: Person
let projectId = ''

beforeAll(async () => {
  note('messages of the model', 'a scripted Messages API, not Anthropic')
  note('the code host', 'the local code host, not GitHub')
  folder = await ownFolder()
  const repository = join(folder, 'engine')
  await localRepository(repository, { 'README.md': '# Engine\n' })
  const files = Array.from({ length: folders * filesInEach }, (_, n) => {
    const text = `${n}\n`
    return `M 100644 inline ${n % folders}/${n}.txt\ndata ${text.length}\n${text}`
  })
  const commit = ['commit refs/heads/main', 'committer Ada <ada@example.com> 0 +0000', 'data 4\nMany']
  const input = [...commit, 'from refs/heads/main^0', ...files, ''].join('\n')
  await runToItsEnd('git', ['fast-import', '--quiet'], {
    cwd: repository,
    env: cleanEnvironment(folder),
    input,
  })
  await gitDone(repository, ['cat-file', '-e', 'main:99/99999.txt'])
  const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })
  api = await startMessagesApi([
    {
      when: /Flood/,
      turns: [
        { tools: [bash('mkdir new && seq 1 100000 | split -l 1 -a 6 -d - new/f; echo x >> README.md')] },
        { text: 'There are many.' },
      ],
    },
    {
      when: /Rewrite/,
      turns: [
        // 10,000 files, each with 5 KB more: 50 MB of diff.
        { tools: [bash('line=$(printf %05000d 0); for f in {0..9}/*.txt; do echo $line >> $f; done')] },
        { text: 'All is new.' },
      ],
    },
  ])
  product = await startProduct({ repos: [repository], model: { messagesApi: api } })
  ada = await product.signIn('ada')
  projectId = await ada.project('engine')
}, withinMs)
afterAll(async () => {
  await product?.stop().finally(() => api.close())
  await rm(folder, { recursive: true, force: true })
}, withinMs)

async function ended(description: string): Promise<string> {
  const { id } = await ada.task(projectId, description)
  const task = await ada.taskOnce(id, hasEnded, withinMs)
  expect(task).toMatchObject({ status: 'completed', failure: null })
  return id
}

/** Asked for again until it is there: the first answer may be that it is still being made. */
async function published(taskId: string): Promise<void> {
  await expect
    .poll(async () => (await ada.api('POST', `/tasks/${taskId}/pr`)).status, { timeout: withinMs })
    .toBe(200)
}

/** Opens the changes of a task in a browser; what goes wrong in the page fails the test. */
async function seenInAPage(taskId: string, files: number): Promise<void> {
  const browser = await openChromium(folder)
  try {
    const visit = await openVisit(browser, product.base, { as: ada })
    await visit.page.goto(`/tasks/${taskId}`)
    await visit.page.getByRole('tab', { name: 'Code Changes' }).click()
    const heading = visit.page.getByRole('heading', { name: `Changed Files (${files})` })
    await heading.waitFor({ timeout: 60_000 })
    await visit.leave()
  } finally {
    await browser.close()
  }
}

test('100,000 new files are counted up to a bound, refused as a pull request, and no trouble once ignored', async () => {
  const taskId = await ended('Flood')
  const params = { taskId }
  const { data } = await ada.ask(getTaskDiff, { params })
  expect(data).toMatchObject({ status: 'ready', truncated: true })
  expect(data.changedFiles.map(({ fileName }) => fileName)).toContain('README.md')
  expect(data.changedFiles.length).toBeLessThanOrEqual(2_000)
  await seenInAPage(taskId, data.totalChanges)
  await expect
    .poll(async () => (await ada.api('POST', `/tasks/${taskId}/pr`)).text, { timeout: withinMs })
    .toContain('more than 50000 new files')

  await ada.ask(executeTask, { params, body: { command: 'echo new/ >> .gitignore' } })
  await ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === 2, withinMs)
  const after = (await ada.ask(getTaskDiff, { params })).data
  expect(after.changedFiles.map(({ fileName }) => fileName)).toEqual(['.gitignore', 'README.md'])
  expect(after.truncated).toBe(false)
  await published(taskId)
})

test('10,000 changed files with 50 MB of diff are cut, said to be, and published whole', async () => {
  const taskId = await ended('Rewrite')
  const params = { taskId }
  const { data } = await ada.ask(getTaskDiff, { params })
  expect(data).toMatchObject({ status: 'ready', truncated: true })
  const shown = data.changedFiles.reduce((sum, { diff }) => sum + diff.length, 0)
  expect(shown).toBeGreaterThan(1_000_000)
  expect(shown).toBeLessThan(6_000_000)
  expect(data.changedFiles.at(-1)?.diff).toContain('too many changes to show this diff')
  const { task } = await ada.ask(getTask, { params })
  await seenInAPage(taskId, data.totalChanges)
  await ada.api('POST', `/tasks/${taskId}/pr`)
  await published(taskId)
  const bare = await bareRepository(product.dataDir)
  const changed = await gitDone(bare, ['diff', '--name-only', `main...${task.workingBranch ?? ''}`])
  expect(changed.split('\n')).toHaveLength(10_000)
  expect(await ada.ask(createPullRequest, { params })).toMatchObject({ pr: { number: 2 } })
})
