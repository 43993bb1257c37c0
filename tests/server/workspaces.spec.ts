/** Repositories that are not like others, through the whole product: an empty one, and one with more changes than can be shown. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepository } from '#domain/api/projects.ts'
import { getTaskDiff, createPullRequest } from '#domain/api/tasks.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

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

test('a task in an empty repository works on its first branch, and pushes that', async () => {
  const { ada } = scene
  await ada.ask(createRepository, { body: { name: 'blank' } })
  const projectId = await ada.project('blank')
  const { id } = await ada.task(projectId, 'Begin')
  const params = { taskId: id }
  expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
  const { data } = await ada.ask(getTaskDiff, { params })
  expect(data).toMatchObject({
    currentBranch: 'main',
    commitComparison: { ahead: 0, behind: 0 },
    changedFiles: [{ fileName: 'README.md', status: 'untracked', additions: 1 }],
  })
  const refused = await ada.refused(createPullRequest, { params, body: {} })
  expect(refused.error).toMatch(/was empty: the work was pushed to main/)
})

test('more changes than can be shown are cut with a word about it', async () => {
  const { ada, projectId } = scene
  const { id } = await ada.task(projectId, 'Write much')
  expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
  const { data } = await ada.ask(getTaskDiff, { params: { taskId: id } })
  expect(data).toMatchObject({ truncated: true, message: expect.stringContaining('more than can be shown') })
  expect(data.changedFiles).toHaveLength(2_000)
})
