/** Hooks of a repository: off, until the project's owner allows exactly this version of the file that names them. */
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import {
  getProjectRepository,
  getProjectSettings,
  updateProjectSettings,
} from '#domain/api/projectSettings.schema.ts'
import { getAgents } from '#domain/api/server.schema.ts'
import { getTaskDiff, type Task } from '#domain/api/tasks.schema.ts'
import { commit, git, gitDone } from '../contracts/codeHost.fixture.ts'
import { bareRepository } from './pushing.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const settingsFile = '.claude/settings.json'
const command = (words: string) => ({ hooks: [{ type: 'command', command: words }] })
const hooks = {
  SessionStart: [command('touch begun.txt')],
  PostToolUse: [{ matcher: 'Bash', ...command('echo hooked >> hooked.txt') }],
}
const env = { FROM_REPOSITORY: 'swordfish-of-the-repository' }
const first = JSON.stringify({ hooks, env })
const second = `${first}\n`
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

const bash = (words: string) => [
  { tools: [{ name: 'Bash', input: { command: words, description: 'Work' } }] },
  { text: 'Done.' },
]

let scene: Scene
let clone = ''
beforeAll(async () => {
  scene = await openScene([
    { when: /Say the environment/, turns: bash('env > environment.txt') },
    { when: /Write the settings/, turns: bash(`mkdir -p .claude && printf %s '${first}' > ${settingsFile}`) },
    { when: /Work/, turns: bash('date > date.txt') },
  ])
  const { dataDir } = scene.product
  clone = join(dataDir, '..', `${basename(dataDir)}-clone`)
  await git(dataDir, ['clone', '-q', '-b', 'main', await bareRepository(dataDir), clone])
  await push(first)
})
afterAll(async () => {
  await scene?.close()
  await rm(clone, { recursive: true, force: true })
})

async function push(text: string): Promise<void> {
  await commit(clone, 'main', { [settingsFile]: text })
  await gitDone(clone, ['push', '-q', 'origin', 'main'])
}
async function begin(message: string): Promise<Task> {
  const { id } = await scene.ada.task(scene.projectId, message)
  return scene.ada.taskOnce(id, hasEnded)
}
async function goOn({ id, execution }: Task, message: string): Promise<Task> {
  await scene.ada.ask(sendMessage, { params: { taskId: id }, body: { message } })
  const isNext = (task: Task) => hasEnded(task) && (task.execution?.turn ?? 0) > (execution?.turn ?? 0)
  return scene.ada.taskOnce(id, isNext)
}
const params = () => ({ projectId: scene.projectId })
const allow = (hash: string | null) =>
  scene.ada.ask(updateProjectSettings, {
    params: params(),
    body: { allowedHooks: hash === null ? null : { hash } },
  })
/** The changes of a task: the names of the files, and their lines. */
async function changesOf({ id: taskId }: Task) {
  const { data } = await scene.ada.ask(getTaskDiff, { params: { taskId } })
  return {
    names: data.changedFiles.map(({ fileName }) => fileName).toSorted(),
    lines: JSON.stringify(data.changedFiles),
  }
}
async function timesTold({ id: taskId }: Task): Promise<number> {
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId } })
  const text = output.map(({ content }) => content).join('')
  return text.split(`The hooks in the repository's ${settingsFile} stay off`).length - 1
}

test('a run with them tells no models, as a hook could print a list in place of the agent', async () => {
  await allow(hashOf(first))
  expect((await changesOf(await begin('Work'))).names).toContain('begun.txt')
  const { agents } = await scene.ada.ask(getAgents)
  const models = agents.find(({ name }) => name === 'claude')?.models ?? []
  expect(models.map(({ name }) => name)).toContain('opus')
  expect(models.filter(({ effortLevels }) => effortLevels !== undefined)).toEqual([])
  await allow(null)
})

test('they stay off, the task says so once, and the settings show them', async () => {
  const task = await goOn(await begin('Work'), 'Work again')
  expect((await changesOf(task)).names).toEqual(['date.txt'])
  expect(await timesTold(task)).toBe(1)
  const { repository } = await scene.ada.ask(getProjectRepository, { params: params() })
  expect(repository?.hooks).toEqual({
    kind: 'shown',
    hash: hashOf(first),
    hooks: [
      { event: 'SessionStart', hook: hooks.SessionStart[0]?.hooks[0] },
      { event: 'PostToolUse', matcher: 'Bash', hook: hooks.PostToolUse[0]?.hooks[0] },
    ],
  })
  const { settings } = await scene.ada.ask(getProjectSettings, { params: params() })
  expect(settings.allowedHooks).toBeNull()
})

test('what is no hash of a file is refused', async () => {
  const body = { allowedHooks: { hash: 'not-a-hash' } }
  expect(await scene.ada.refused(updateProjectSettings, { params: params(), body })).toMatchObject({
    status: 400,
    field: 'allowedHooks.hash',
  })
})

test('once allowed they run, with nothing else of the settings, until they are forbidden again', async () => {
  const { settings } = await allow(hashOf(first))
  expect(settings.allowedHooks).toEqual({ hash: hashOf(first), since: expect.any(String) })
  const task = await begin('Say the environment')
  const once = await changesOf(task)
  expect(once.names).toEqual(['begun.txt', 'environment.txt', 'hooked.txt'])
  expect(once.lines).toContain('+hooked')
  expect(once.lines).not.toContain(env.FROM_REPOSITORY)
  expect(await timesTold(task)).toBe(0)

  expect((await allow(null)).settings.allowedHooks).toBeNull()
  const after = await changesOf(await goOn(task, 'Work'))
  expect(after.names).toEqual(['begun.txt', 'date.txt', 'environment.txt', 'hooked.txt'])
  expect(after.lines.split('+hooked')).toHaveLength(2)
})

test('a file that differs by a byte is off, and one that the agent wrote as well', async () => {
  await allow(hashOf(first))
  await push(second)
  const task = await begin('Write the settings')
  expect(await timesTold(task)).toBe(1)
  const { names } = await changesOf(await goOn(task, 'Work'))
  expect(names).toEqual([settingsFile, 'date.txt'])
  const { repository } = await scene.ada.ask(getProjectRepository, { params: params() })
  expect(repository?.hooks).toMatchObject({ kind: 'shown', hash: hashOf(second) })
  const { settings } = await scene.ada.ask(getProjectSettings, { params: params() })
  expect(settings.allowedHooks?.hash).toBe(hashOf(first))
})
