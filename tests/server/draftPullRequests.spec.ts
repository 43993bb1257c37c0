/** Pull requests that tasks open by themselves as drafts, if the project wants that, with the repository's template. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getChat, sendMessage } from '#domain/api/chat.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { createPullRequest, getPullRequest } from '#domain/api/tasks.schema.ts'
import { gitDone } from '../contracts/codeHost.fixture.ts'
import { bareRepository, pushElsewhere } from './pushing.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })
const template = '## Checklist\n\n<!-- tick what holds -->\n- [ ] Tests, cc @ada\n'

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    { when: /What is there/, turns: [{ text: 'A README.' }] },
    {
      when: /Say goodbye/,
      turns: [{ tools: [bash('echo Goodbye. >> README.md')] }, { text: 'The README says goodbye now.' }],
    },
    { when: /And in German/, turns: [{ tools: [bash('echo 2 >> new.txt')] }, { text: 'Auch auf Deutsch.' }] },
  ])
  const { ada, projectId, product, repository } = scene
  await ada.ask(updateProjectSettings, { params: { projectId }, body: { draftPullRequests: true } })
  const main = { dataDir: product.dataDir, clone: `${repository}-main`, branch: 'main' }
  await pushElsewhere(main, { '.github/pull_request_template.md': template })
})
afterAll(() => scene?.close())

const Pull = z.object({ title: z.string(), body: z.string(), draft: z.boolean(), state: z.string() })
const pullRequest = async () =>
  Pull.parse(await (await fetch(`${scene.product.codeHostUrl}/api/v3/repos/ada/engine/pulls/1`)).json())

test('github gap 10: the first turn that changes something opens a draft with the template, later turns update it, and a person marks it ready', async () => {
  const { ada, projectId, product } = scene
  const { id: taskId } = await ada.task(projectId, 'What is there')
  const params = { taskId }
  const says = async (message: string, turn: number) => {
    await ada.ask(sendMessage, { params, body: { message } })
    await ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === turn)
  }
  const saidBySystem = async () =>
    (await ada.ask(getChat, { params })).messages.flatMap(({ messageType, message }) =>
      messageType === 'system' ? [message] : [],
    )
  await ada.taskOnce(taskId, hasEnded)
  expect((await ada.ask(getPullRequest, { params })).pr).toBeNull()
  await says('Say goodbye', 2)
  await ada.taskOnce(taskId, ({ prNumber }) => prNumber === 1)
  const opened = await pullRequest()
  expect(opened).toMatchObject({ title: 'What is there', draft: true, state: 'open' })
  const [above, below] = opened.body.split('\n\n---\n<!-- Template of the repository -->\n\n')
  expect(above).toMatch(
    /^## What was done\n\nThe README says goodbye now\.\n\n## Asked for on the way\n\n- Say goodbye\n\n---\n\n\[Record of this task\]/,
  )
  expect(below).toBe(template.replace('@', '@\u200B'))
  expect((await saidBySystem()).at(-1)).toMatch(/^Pull request #1 created successfully/)

  const { workingBranch } = await ada.taskOnce(taskId, ({ pullRequest: seen }) => seen?.state === 'draft')
  await says('And in German', 3)
  await expect
    .poll(async () => (await saidBySystem()).at(-1))
    .toMatch(/^Pull request #1 updated successfully/)
  const bare = await bareRepository(product.dataDir)
  expect(await gitDone(bare, ['show', `${workingBranch}:new.txt`])).toBe('2')
  expect(await pullRequest()).toEqual(opened)

  // Words of a person replace those above, and leave the template.
  await ada.ask(createPullRequest, { params, body: { title: 'Farewell', body: 'As we agreed.' } })
  const reworded = await pullRequest()
  expect(reworded).toMatchObject({ title: 'Farewell', draft: true })
  expect(reworded.body).toMatch(/^As we agreed\.\n\n---\n\n\[Record of this task\]/)
  expect(reworded.body.endsWith(`<!-- Template of the repository -->\n\n${below}`)).toBe(true)

  await ada.ask(createPullRequest, { params, body: { draft: false } })
  expect(await pullRequest()).toEqual({ ...reworded, draft: false })
  expect((await ada.taskOnce(taskId, () => true)).pullRequest?.state).toBe('open')
})
