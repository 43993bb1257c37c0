/** The same task run again with another model or message, from the same commit: with the real CLI and real git. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addAlternative, getComparison } from '#domain/api/comparison.schema.ts'
import { createTask, deleteTask, getTask, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Do it' } })
const scripts = [
  { when: /Write it short/, turns: [{ tools: [bash('echo short > answer.txt')] }, { text: 'Done.' }] },
  {
    when: /Write it/,
    turns: [
      { tools: [bash('echo long > answer.txt; ls')] },
      { tools: [bash('npm test -- --help > /dev/null')] },
      { text: 'Written.' },
    ],
  },
]

let scene: Scene
let taskId = ''
const run = promisify(execFile)
const git = (...args: string[]) => run('git', ['-C', scene.repository, ...args])
const ended = (id: string) => scene.ada.taskOnce(id, hasEnded)

beforeAll(async () => {
  scene = await openScene(scripts)
  const { ada, projectId } = scene
  const body = { projectId, description: 'Write it', branch: 'main', agent: 'claude' } as const
  taskId = (await ada.ask(createTask, { body })).task.id
  await ended(taskId)
  // The branch moves on: an alternative begins where the original began.
  await git(
    '-c',
    'user.name=Ada',
    '-c',
    'user.email=ada@example.com',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'On',
  )
})
afterAll(() => scene?.close())

const addTo = (id: string, message?: string) =>
  scene.ada.ask(addAlternative, {
    params: { taskId: id },
    body: { agent: 'claude', ...(message !== undefined && { message }) },
  })
const alternatives: string[] = []

test('an alternative runs the same message from the same commit, and both name each other', async () => {
  const { ada } = scene
  const { task } = await addTo(taskId)
  alternatives.push(task.id)
  expect(task).toMatchObject({
    original: { taskId, title: 'Write it' },
    description: 'Write it',
    branch: 'main',
  })
  expect((await ended(task.id)).status).toBe('completed')
  const { task: original } = await ada.ask(getTask, { params: { taskId } })
  expect(original.alternatives).toEqual([{ taskId: task.id, title: 'Write it' }])

  const { compared } = await ada.ask(getComparison, { params: { taskId: task.id } })
  expect(compared.map((one) => one.task.id)).toEqual([taskId, task.id])
  const [first, second] = compared
  const began = (await git('rev-parse', 'main~1')).stdout.trim()
  expect([first?.baseCommit, second?.baseCommit]).toEqual([began, began])
  expect(first).toMatchObject({ tests: { runs: 1, lastPassed: false } })
  expect(first?.runningMs).toBeGreaterThan(0)
  const { data } = await ada.ask(getTaskDiff, { params: { taskId: task.id } })
  expect(data.changedFiles.map(({ fileName }) => fileName)).toEqual(['answer.txt'])
})

test('one asked for on an alternative joins the same comparison, with its own message', async () => {
  const { task } = await addTo(alternatives[0] ?? '', 'Write it short')
  alternatives.push(task.id)
  expect(task.original?.taskId).toBe(taskId)
  expect((await ended(task.id)).status).toBe('completed')
  const { compared } = await scene.ada.ask(getComparison, { params: { taskId } })
  expect(compared.map((one) => one.task.id)).toEqual([taskId, ...alternatives])
  expect(compared[2]).toMatchObject({
    task: { description: 'Write it short' },
    tests: { runs: 0, lastPassed: null },
  })
})

test('a comparison holds four, also of those asked for at once, and one that is deleted leaves its place', async () => {
  const { ada } = scene
  const params = { taskId }
  const askedAtOnce = await Promise.allSettled([addTo(taskId), addTo(taskId), addTo(taskId)])
  const added = askedAtOnce.flatMap((one) => (one.status === 'fulfilled' ? [one.value.task.id] : []))
  expect(added).toHaveLength(1)
  expect((await ada.ask(getTask, { params })).task.alternatives).toHaveLength(3)
  alternatives.push(...added)
  const refused = await ada.refused(addAlternative, { params, body: { agent: 'claude' } })
  expect(refused).toMatchObject({ status: 409, code: 'comparison_full' })
  await ended(alternatives[2] ?? '')
  await ada.ask(deleteTask, { params: { taskId: alternatives[2] ?? '' } })
  const { compared } = await ada.ask(getComparison, { params })
  expect(compared).toHaveLength(3)
  expect((await addTo(taskId)).task.original?.taskId).toBe(taskId)
})

test('is created once for one key, and refused to others', async () => {
  const { ada, product } = scene
  const { compared } = await ada.ask(getComparison, { params: { taskId } })
  await ada.ask(deleteTask, { params: { taskId: compared.at(-1)?.task.id ?? '' } })
  const asked = {
    params: { taskId },
    body: { agent: 'claude' },
    headers: { 'Idempotency-Key': '0199c6c2-7777-7000-8000-000000000002' },
  } as const
  const first = await ada.ask(addAlternative, asked)
  const second = await ada.ask(addAlternative, asked)
  expect(second.task.id).toBe(first.task.id)
  const grace = await product.signIn('grace')
  expect(
    await grace.refused(addAlternative, { params: { taskId }, body: { agent: 'claude' } }),
  ).toMatchObject({
    status: 404,
  })
  expect(await grace.refused(getComparison, { params: { taskId } })).toMatchObject({ status: 404 })
})
