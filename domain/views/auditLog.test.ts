/** The audit log: which events are entries, whose entries they are, and that no entry contains a person's text. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { credentialId, executionId, projectId, sessionId, taskId, userId } from '../../tests/domain/ids.ts'
import { logs } from '../../tests/domain/logs.ts'
import { recorded } from '../../tests/domain/recorded.ts'
import { RecordsExported, SignInRefused } from '../audit.ts'
import { auditStream, projectStream, taskStream, userStream } from '../kernel/streams.ts'
import { ProjectSecretSet } from '../project/events.ts'
import { TaskDeleted } from '../task/events.ts'
import { TaskForked, TurnsUndone } from '../task/snapshotEvents.ts'
import { AccountDeleted, PasswordSet, SessionEnded, UserRegistered } from '../user/events.ts'
import { auditLogView, auditOrder, type AuditDocument } from './auditLog.ts'
import type { AnyRecorded } from './view.ts'
import { foldView } from '../../tests/domain/fold.ts'

const entriesOf = (log: readonly AnyRecorded[]): readonly AuditDocument[] => [
  ...foldView(auditLogView, new Map(), log).values(),
]
/** The event, done by a person with a command. */
function by(person: string, commandId: string, event: AnyRecorded): AnyRecorded {
  return { ...event, meta: { ...event.meta, actor: { kind: 'user', userId: person }, commandId } }
}
const ada = userId(1)
const ofAda = userStream(ada)

test('an entry says who did what, when, and to what', () => {
  const at = '2026-03-01T10:00:00.000Z'
  const task = taskStream(taskId(1))
  const deleted = by(
    ada,
    'c',
    recorded(TaskDeleted.of({}), { stream: task, revision: 4, position: '90', at }),
  )
  expect(entriesOf([deleted])).toMatchObject([
    {
      id: `${task}@4`,
      at,
      action: 'task_deleted',
      person: ada,
      service: null,
      task: taskId(1),
      order: auditOrder(at, '90'),
    },
  ])
  const secret = recorded(ProjectSecretSet.of({ forAgent: true }, { name: 'KEY' }), {
    stream: projectStream(projectId(1)),
    revision: 2,
  })
  expect(entriesOf([secret])).toMatchObject([
    { action: 'secret_set', person: null, service: 'test', project: projectId(1) },
  ])
})

test('all sessions that one command ended are one entry, and the account that goes with them another', () => {
  const events = [
    UserRegistered.of({ userId: ada }, { name: 'words', email: 'words' }),
    PasswordSet.of({ credentialId: credentialId(1) }),
    ...[1, 2, 3].map((n) => SessionEnded.of({ sessionId: sessionId(n) })),
    AccountDeleted.of({}),
  ].map((event, revision) => by(ada, 'c', recorded(event, { stream: ofAda, revision })))
  expect(entriesOf(events).map(({ action, count }) => [action, count])).toEqual([
    ['account_created', 1],
    ['password_set', 1],
    ['signed_out', 3],
    ['account_deleted', 1],
  ])
})

test('a refused sign-in belongs to whose account it is, an export to who asked for it', () => {
  const stream = auditStream('2026-03-01')
  const refused = SignInRefused.of({ method: 'password', code: 'wrong_password', userId: ada })
  const exported = RecordsExported.of({
    records: 'audit_log',
    personId: userId(2),
    taskId: taskId(1),
    from: '2026-01-01T00:00:00.000Z',
    to: null,
  })
  expect(
    entriesOf([
      recorded(refused, { stream, revision: 0 }),
      by(ada, 'c', recorded(exported, { stream, revision: 1 })),
    ]),
  ).toMatchObject([
    { action: 'sign_in_refused', person: ada, method: 'password', code: 'wrong_password' },
    {
      action: 'records_exported',
      person: ada,
      task: taskId(1),
      records: 'audit_log',
      asked: { person: userId(2), from: '2026-01-01T00:00:00.000Z', to: null },
    },
  ])
})

test('who created a task from a turn, and who undid turns, is in it with the task that it was done to', () => {
  const stream = taskStream(taskId(1))
  const forked = TaskForked.of(
    { taskId: taskId(2), executionId: executionId(1) },
    { title: 'words of somebody' },
  )
  const undone = TurnsUndone.of({
    undoId: executionId(2),
    executionId: executionId(1),
    undone: [executionId(1)],
    redone: [],
  })
  expect(
    entriesOf([
      by(ada, 'c', recorded(forked, { stream, revision: 4 })),
      by(ada, 'd', recorded(undone, { stream, revision: 5 })),
    ]),
  ).toMatchObject([
    { action: 'task_forked', person: ada, task: taskId(1) },
    { action: 'turns_undone', person: ada, task: taskId(1) },
  ])
})

test('entries hold no word that anybody wrote', () =>
  fc.assert(
    fc.property(logs, (log) => {
      expect(JSON.stringify(entriesOf(log))).not.toMatch(/words/)
    }),
    { numRuns: 50 },
  ))

test('a time stands before all entries of that time', () => {
  const at = '2026-03-01T10:00:00.000Z'
  expect(
    [
      auditOrder('2026-03-01T10:00:00.001Z', '1'),
      auditOrder(at, '10'),
      auditOrder(at, '9'),
      auditOrder(at),
    ].toSorted(),
  ).toEqual([
    auditOrder(at),
    auditOrder(at, '9'),
    auditOrder(at, '10'),
    auditOrder('2026-03-01T10:00:00.001Z', '1'),
  ])
})
