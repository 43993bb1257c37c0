/** Figures: a person's own tasks, those of everybody for administrators only, and the same figures as a table. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listAuditLog } from '#domain/api/admin.schema.ts'
import { deleteProject } from '#domain/api/projects.schema.ts'
import { exportFigures, getFigures } from '#domain/api/figures.schema.ts'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import { createProject } from '#domain/api/projects.schema.ts'
import { groupings, measures, weekOf } from '#domain/figures.ts'
import { addressOf, type Person } from '../product/person.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

let scene: Scene
let ada: Person
let grace: Person
let taskId: string
beforeAll(async () => {
  const change = { tools: [{ name: 'Bash', input: { command: 'echo more >> README.md' } }] }
  scene = await openScene([{ when: /wombat/, turns: [change, { text: 'Done.' }] }], {
    env: { ALLOWED_USERS: '*', ADMINS: 'ada' },
  })
  ada = scene.ada
  grace = await scene.product.signIn('grace')
  const task = await ada.task(scene.projectId, 'Draw a wombat')
  taskId = task.id
  await ada.taskOnce(taskId, hasEnded)
  const repoUrl = `${scene.product.codeHostUrl}/ada/engine`
  const { id } = await grace.ask(createProject, { body: { repoUrl } })
  const hers = await grace.task(id, 'Draw another wombat')
  await grace.taskOnce(hers.id, hasEnded)
})
afterAll(() => scene?.close())

const figures = (person: Person, query: Readonly<Record<string, string>> = {}) =>
  person.ask(getFigures, { query })

test('count one’s own tasks, by week of the last twelve', async () => {
  const found = await figures(ada)
  expect(found).toMatchObject({ by: 'week', scope: 'own', others: null, mergedPullRequests: 0 })
  expect(found.total).toMatchObject({ tasks: 1, turns: 1, completed: 1, failed: 0, pullRequests: 0 })
  expect(found.total.outputTokens).toBeGreaterThan(0)
  expect(found.total.runningMs).toBeGreaterThan(0)
  expect(found.groups).toHaveLength(12)
  expect(found.groups.at(-1)).toMatchObject({ key: weekOf(found.to), figures: found.total })
})

test.each(groupings)('the groups by %s add up to the total', async (by) => {
  const { groups, others, total } = await figures(ada, { by, scope: 'all' })
  expect(others).toBeNull()
  for (const measure of measures)
    expect(groups.reduce((sum, group) => sum + group.figures[measure], 0)).toBeCloseTo(total[measure], 9)
})

test('name projects, people and models', async () => {
  const [project] = (await figures(ada, { by: 'project' })).groups
  expect(project).toMatchObject({ key: scene.projectId, name: 'engine' })
  const people = (await figures(ada, { by: 'person', scope: 'all' })).groups
  expect(people.map(({ name }) => name).toSorted()).toEqual(['Ada Lovelace', 'Grace Hopper'])
  expect((await figures(ada, { by: 'agent' })).groups).toMatchObject([{ key: 'claude' }])
  const [model] = (await figures(ada, { by: 'model' })).groups
  expect(model?.key).toMatch(/\w/)
})

test('of everybody are for administrators, and each look at them is in the audit log', async () => {
  expect(await grace.refused(getFigures, { query: { scope: 'all' } })).toMatchObject({
    status: 403,
    code: 'forbidden',
  })
  expect(await grace.refused(exportFigures, { query: { scope: 'all' } })).toMatchObject({ status: 403 })
  const looks = async () => {
    const { entries } = await ada.ask(listAuditLog, { query: { limit: '200' } })
    return entries.filter(({ records }) => records === 'figures_of_everybody').map(({ action }) => action)
  }
  const before = await looks()
  expect((await figures(ada, { scope: 'all' })).total).toMatchObject({ tasks: 2, turns: 2 })
  await ada.api('GET', addressOf(exportFigures, {}, { scope: 'all' }))
  expect(await looks()).toEqual(['records_exported', 'records_read', ...before])
  expect((await figures(grace)).total).toMatchObject({ tasks: 1, turns: 1 })
})

test('are a table that a spreadsheet opens, in which no name is a formula', async () => {
  await ada.api('PUT', `/projects/${scene.projectId}`, { name: '=HYPERLINK("x")', description: '' })
  const exportsOfOwn = async () => {
    const { entries } = await ada.ask(listAuditLog, { query: { limit: '200' } })
    return entries.filter(({ records }) => records === 'own_figures').map(({ action }) => action)
  }
  expect(await exportsOfOwn()).toEqual([])
  const { status, headers, text } = await ada.api('GET', addressOf(exportFigures, {}, { by: 'project' }))
  expect(await exportsOfOwn()).toEqual(['records_exported'])
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^text\/csv/)
  const [head, row, end] = text.replace('\uFEFF', '').split('\r\n')
  expect(head).toBe(`project,name,${measures.join(',')}`)
  expect(row).toMatch(/^[0-9a-f-]{36},"'=HYPERLINK\(""x""\)",1,1,1,0,0,\d+,\d+,/)
  expect(end).toBe('')
})

test('take a period of days, and no other', async () => {
  const none = await figures(ada, { from: '2024-01-01', to: '2024-01-31' })
  expect(none.total).toMatchObject({ tasks: 0, turns: 0 })
  for (const query of [
    { from: '2024-02-01', to: '2024-01-01' },
    { from: '2010-01-01', to: '2024-01-01' },
    { from: '2024-02-31' },
    { to: '9999-12-31' },
    { by: 'colour' },
  ])
    expect(await ada.refused(getFigures, { query })).toMatchObject({ status: 400, code: 'invalid_input' })
})

test('count a pull request that was opened, and go on counting what was deleted', async () => {
  const body = { title: 'A wombat', body: '' }
  await ada.ask(createPullRequest, { params: { taskId }, body })
  expect((await figures(ada)).total).toMatchObject({ tasks: 1, pullRequests: 1 })
  await ada.ask(deleteProject, { params: { projectId: scene.projectId } })
  await expect.poll(async () => (await ada.api('GET', `/tasks/${taskId}`)).status).toBe(404)
  const { total, groups } = await figures(ada, { by: 'project' })
  expect(total).toMatchObject({ tasks: 1, turns: 1, pullRequests: 1 })
  expect(groups).toMatchObject([{ key: scene.projectId, name: null }])
})
