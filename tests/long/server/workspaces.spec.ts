/** Unusual repositories in the whole product: an empty one, one that disappears, and one with more changes than can be shown. */
import { appendFile, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getChat } from '#domain/api/chat.schema.ts'
import { createRepository, listBranches } from '#domain/api/projects.schema.ts'
import { getTaskDiff, createPullRequest } from '#domain/api/tasks.schema.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const bash = (command: string) => ({
  tools: [{ name: 'Bash', input: { command, description: 'Work' } }],
})

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    { when: /Begin/, turns: [bash('echo "# First" > README.md && git status --short'), { text: 'Begun.' }] },
    {
      when: /Write much/,
      turns: [
        bash('mkdir many && cd many && for n in $(seq 2100); do echo $n > $n.txt; done'),
        { text: 'Written.' },
      ],
    },
  ])
})
afterAll(() => scene?.close())

// Holds contract 9.24.
test('the first tasks of an empty repository make its main branch when coding starts, once, and get pull requests', async () => {
  const { ada } = scene
  await ada.ask(createRepository, { body: { name: 'blank' } })
  const projectId = await ada.project('blank')
  const branches = async () => (await ada.ask(listBranches, { params: { projectId } })).branches
  expect(await branches()).toEqual([])
  const tasks = await Promise.all(['Begin', 'Begin too'].map((words) => ada.task(projectId, words)))
  for (const { id } of tasks) {
    expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
    const { data } = await ada.ask(getTaskDiff, { params: { taskId: id } })
    expect(data).toMatchObject({
      currentBranch: expect.stringMatching(/begin/),
      commitComparison: { ahead: 0, behind: 0 },
      changedFiles: [{ fileName: 'README.md', status: 'untracked', additions: 1 }],
    })
  }
  expect(await branches()).toEqual([{ name: 'main' }])
  const numbers = []
  for (const { id } of tasks)
    numbers.push((await ada.ask(createPullRequest, { params: { taskId: id }, body: {} })).pr.number)
  expect(numbers).toEqual([1, 2])
})

test('a task whose first branch the code host does not take fails with the reason, and leaves nothing', async () => {
  const { ada, product } = scene
  const hosted = join(product.dataDir, 'codehost', 'repositories')
  const before = await readdir(hosted)
  await ada.ask(createRepository, { body: { name: 'closed' } })
  const [made = ''] = (await readdir(hosted)).filter((name) => !before.includes(name))
  await appendFile(join(hosted, made, 'config'), '[receive]\n\thideRefs = refs/heads\n')
  const projectId = await ada.project('closed')
  const { id } = await ada.task(projectId, 'Begin')
  expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'failed' })
  const { messages } = await ada.ask(getChat, { params: { taskId: id } })
  expect(messages.at(-1)?.message).toMatch(
    /^This repository is empty, and its first branch main could not be created\. The code host rejected the push: /,
  )
  expect((await ada.ask(listBranches, { params: { projectId } })).branches).toEqual([])
  expect(await readdir(join(product.dataDir, 'runner', 'tasks'))).not.toContain(id)
})

test('a task whose repository can no longer be reached fails, and leaves neither a workspace nor a sandbox', async () => {
  const { ada, product } = scene
  const hosted = join(product.dataDir, 'codehost', 'repositories')
  const before = await readdir(hosted)
  await ada.ask(createRepository, { body: { name: 'fleeting' } })
  const [made = ''] = (await readdir(hosted)).filter((name) => !before.includes(name))
  const projectId = await ada.project('fleeting')
  const first = await ada.task(projectId, 'Begin')
  expect(await ada.taskOnce(first.id, hasEnded)).toMatchObject({ status: 'completed' })

  const sandboxes = async () =>
    (await product.processes()).filter(({ command }) => /bwrap|stream-json/.test(command))
  const waiting = await sandboxes()
  await rename(join(hosted, made), join(hosted, `${made}.gone`))
  const { id } = await ada.task(projectId, 'Begin again')
  expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'failed' })
  await expect.poll(sandboxes).toEqual(waiting)
  expect(await readdir(join(product.dataDir, 'runner', 'tasks'))).not.toContain(id)
  await rename(join(hosted, `${made}.gone`), join(hosted, made))
})

test('more changes than can be shown are cut with a word about it', async () => {
  const { ada, projectId } = scene
  const { id } = await ada.task(projectId, 'Write much')
  expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
  const { data } = await ada.ask(getTaskDiff, { params: { taskId: id } })
  expect(data).toMatchObject({
    truncated: true,
    message: expect.stringContaining('too many changes to show'),
  })
  expect(data.changedFiles).toHaveLength(2_000)
})
