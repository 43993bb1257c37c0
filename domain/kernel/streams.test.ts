/** A stream's name tells what the stream is about and under whose key it is sealed. */
import { describe, expect, test } from 'vitest'
import { taskId } from '../../tests/domain/ids.ts'
import { TaskId } from './ids.schema.ts'
import {
  parseStream,
  projectStream,
  scopeOfStream,
  taskStream,
  terminalStream,
  usageStream,
  userStream,
} from './streams.ts'

const id = taskId(1)

describe('a stream', () => {
  test.each([
    ['user', userStream(id)],
    ['project', projectStream(id)],
    ['task', taskStream(id)],
    ['terminal', terminalStream(id)],
  ])('of a %s names its kind and id', (kind, stream) => expect(parseStream(stream)).toEqual({ kind, id }))

  test('of what a person used on a day names both', () =>
    expect(parseStream(usageStream(id, '2026-01-31'))).toEqual({ kind: 'usage', id: `${id}-2026-01-31` }))

  test.each(['', 'task', 'tasks', 'userx', '-a', 'tasks-a', '$settings-a'])(
    'called %j is of no kind',
    (stream) => expect(parseStream(stream)).toEqual({ kind: 'other' }),
  )

  test('of a terminal is sealed under the key of its task', () => {
    expect(scopeOfStream(terminalStream(id))).toBe(scopeOfStream(taskStream(id)))
    expect(scopeOfStream(taskStream(id))).not.toBe(scopeOfStream(projectStream(id)))
  })

  test('of no kind has a scope of its own', () =>
    expect(scopeOfStream('settings-a')).not.toBe(scopeOfStream('settings-b')))
})

test('an id is a UUID in lower case: it has one form', () => {
  expect(TaskId.parse(id)).toBe(id)
  for (const input of [id.toUpperCase(), `{${id}}`, id.replaceAll('-', ''), `${id}\n`, '', '../task']) {
    expect(TaskId.safeParse(input).success).toBe(false)
  }
})
