/** The audit log: only administrators see it, it contains everything once, and no text that was erased. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AuditExportLine, exportAuditLog, listAuditLog, type AuditEntry } from '#domain/api/admin.schema.ts'
import { deleteAccount, endSessions, getMe, login, updateProfile } from '#domain/api/auth.schema.ts'
import {
  removeProjectSecret,
  setProjectSecret,
  updateProjectSettings,
} from '#domain/api/projectSettings.schema.ts'
import { getTaskAudit, getTaskHistory } from '#domain/api/history.schema.ts'
import { deleteTask } from '#domain/api/tasks.schema.ts'
import { addressOf, type Person } from '../product/person.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

let scene: Scene
/** An administrator. */
let ada: Person
let grace: Person
let graceId: string
let taskId: string
beforeAll(async () => {
  scene = await openScene([{ when: /wombat/, turns: [{ text: 'Done.' }] }], {
    env: { ALLOWED_USERS: 'ada,grace', ADMINS: 'ada' },
  })
  ada = scene.ada
  grace = await scene.product.signIn('grace')
  graceId = (await grace.ask(getMe)).user.id
  const { id } = await ada.task(scene.projectId, 'Draw a wombat')
  taskId = id
  await ada.taskOnce(taskId, hasEnded)
})
afterAll(() => scene?.close())

const list = (query: Readonly<Record<string, string>> = {}) => ada.ask(listAuditLog, { query })
async function exported(query: Readonly<Record<string, string>> = {}): Promise<AuditExportLine[]> {
  const { status, text, headers } = await ada.api('GET', addressOf(exportAuditLog, {}, query))
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^application\/x-ndjson/)
  expect(headers.get('content-disposition')).toBe('attachment; filename="audit-log.ndjson"')
  expect(text.endsWith('\n')).toBe(true)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => AuditExportLine.parse(JSON.parse(line)))
}
const actionsOf = (entries: readonly AuditEntry[]) => entries.map(({ action }) => action)
const counted = (entries: readonly AuditEntry[], action: AuditEntry['action']) =>
  entries.filter((entry) => entry.action === action).length

describe('somebody who is not an administrator', () => {
  test.each([
    ['reads', listAuditLog],
    ['exports', exportAuditLog],
  ])('%s nothing of it', async (_, call) => {
    expect(await grace.refused(call)).toMatchObject({ status: 403, code: 'forbidden' })
    expect(await scene.product.personWith(undefined).refused(call)).toMatchObject({ status: 401 })
  })

  test('leaves no entry by trying', async () => {
    const { entries } = await list({ person: graceId })
    expect(counted(entries, 'records_read') + counted(entries, 'records_exported')).toBe(0)
  })
})

test('an audit bundle and a saved replay are in it, with their task; a page of the history that is only looked at is not', async () => {
  await ada.ask(getTaskHistory, { params: { taskId } })
  const { next } = await ada.ask(getTaskHistory, {
    params: { taskId },
    query: { limit: '5', export: 'replay' },
  })
  await ada.ask(getTaskHistory, { params: { taskId }, query: { after: next, export: 'replay' } })
  expect((await ada.api('GET', addressOf(getTaskAudit, { taskId }))).status).toBe(200)
  const { entries } = await list({ task: taskId })
  expect(entries.map(({ action, records }) => [action, records])).toEqual([
    ['records_read', 'audit_log'],
    ['records_exported', 'audit_bundle'],
    ['records_exported', 'saved_replay'],
    ['task_created', null],
  ])
  const { user } = await ada.ask(getMe)
  expect(entries.map(({ person }) => person?.id)).toEqual(entries.map(() => user.id))
  expect(
    await grace.refused(getTaskHistory, { params: { taskId }, query: { export: 'replay' } }),
  ).toMatchObject({
    status: 404,
  })
  expect(counted((await list({ person: graceId })).entries, 'records_exported')).toBe(0)
})

test('what people do is in it once, newest first, with whose it is and what it is about', async () => {
  const { projectId } = scene
  const params = { projectId, name: 'API_KEY' }
  await ada.ask(updateProjectSettings, { params: { projectId }, body: { setupCommand: 'true' } })
  await ada.ask(setProjectSecret, { params, body: { value: 'not to be shown' } })
  await ada.ask(removeProjectSecret, { params })
  await ada.ask(deleteTask, { params: { taskId } })
  const { user } = await ada.ask(getMe)

  const { entries } = await list({ person: user.id })
  expect(entries.map(({ at }) => at)).toEqual(
    entries
      .map(({ at }) => at)
      .toSorted()
      .toReversed(),
  )
  for (const action of [
    'signed_in',
    'account_created',
    'code_host_connected',
    'project_created',
    'project_settings_changed',
    'secret_set',
    'secret_removed',
    'task_created',
    'task_deleted',
  ] as const)
    expect([action, counted(entries, action)]).toEqual([action, 1])
  const byAda = { person: { id: user.id, name: user.name }, service: null }
  expect(entries.find(({ action }) => action === 'secret_set')).toMatchObject({
    ...byAda,
    project: projectId,
    secret: 'API_KEY',
  })
  // The read that shows it comes first.
  expect(entries[0]).toMatchObject({
    ...byAda,
    action: 'records_read',
    records: 'audit_log',
    asked: { person: user.id, from: null, to: null },
  })
  expect(JSON.stringify(entries)).not.toContain('not to be shown')
  expect(actionsOf((await list({ task: taskId })).entries)).toEqual([
    'records_read',
    'task_deleted',
    'records_read',
    'records_exported',
    'records_exported',
    'task_created',
  ])
})

test('who is refused with a password is in it, without the address that was tried', async () => {
  const body = { email: 'nobody@example.com', password: 'wrong horse battery' }
  expect(await scene.product.personWith(undefined).refused(login, { body })).toMatchObject({ status: 401 })

  const refused = (await list()).entries.filter(({ action }) => action === 'sign_in_refused')
  expect(refused).toMatchObject([{ method: 'password', code: 'wrong_password', person: null }])
  expect(JSON.stringify(refused)).not.toContain('nobody@')
})

test('it is read in pages, and between two times', async () => {
  const whole = (await list({ limit: '200' })).entries
  const to = whole[0]?.at ?? ''
  const paged: AuditEntry[] = []
  for (let after: string | null | undefined; after !== null;) {
    const found = await list({ limit: '3', to, ...(after === undefined ? {} : { after }) })
    paged.push(...found.entries)
    after = found.next
  }
  const before = whole.filter(({ at }) => at < to)
  expect(before.length).toBeGreaterThan(6)
  expect(paged).toEqual(before)
  const from = before.at(3)?.at ?? ''
  expect((await list({ from, to, limit: '200' })).entries).toEqual(before.filter(({ at }) => at >= from))
  expect((await list({ to: '2020-01-31' })).entries).toEqual([])
  const today = to.slice(0, 10)
  expect((await list({ from: today, to: today, limit: '200' })).entries.length).toBeGreaterThan(before.length)
})

test('an export is whole: oldest first, with its filter and its count, and is recorded', async () => {
  const lines = await exported({ person: graceId })
  const [head, ...rest] = lines
  expect(head).toMatchObject({
    kind: 'audit_log',
    version: 1,
    filter: { person: graceId, task: null, from: null },
  })
  const end = rest.pop()
  expect(end).toEqual({ kind: 'end', count: rest.length })
  const entries = rest.map((line) => (line.kind === 'entry' ? line : undefined))
  expect(entries.map((entry) => entry?.id)).toEqual(
    (await list({ person: graceId, limit: '200' })).entries.map(({ id }) => id).toReversed(),
  )
  const [, last] = (await list()).entries.filter(({ records }) => records !== null)
  const [exportEntry] = (await list()).entries.filter(({ action }) => action === 'records_exported')
  expect(last).toBeDefined()
  expect(exportEntry).toMatchObject({ records: 'audit_log', asked: { person: graceId } })
})

test('an account that is deleted stays in it as an id: no word of the person is left', async () => {
  await grace.ask(updateProfile, { body: { fullName: 'Rear Admiral Quoll' } })
  expect(JSON.stringify(await exported())).toContain('Rear Admiral Quoll')
  const again = await scene.product.signIn('grace')
  await again.ask(endSessions)
  const last = await scene.product.signIn('grace')
  await last.ask(deleteAccount)

  const { entries } = await list({ person: graceId, limit: '200' })
  expect(actionsOf(entries).slice(0, 2)).toEqual(['account_deleted', 'signed_out'])
  expect(entries.find(({ action, count }) => action === 'signed_out' && count > 1)).toBeDefined()
  for (const entry of entries) expect(entry.person).toEqual({ id: graceId, name: null })
  expect(JSON.stringify(await exported())).not.toMatch(/Quoll|grace/i)
})
