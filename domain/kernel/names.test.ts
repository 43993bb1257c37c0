import { describe, expect, test } from 'vitest'
import { createTask, updateTask } from '../api/tasks.schema.ts'
import { taskId } from '../../tests/domain/ids.ts'
import { isModelName, longestModelName } from './names.ts'

describe('the name of a model', () => {
  test.each(['o4-mini', 'opus', 'sonnet[1m]', 'anthropic.claude-opus-4:0', 'house/model_7', 'a'])(
    'can be %j',
    (name) => expect(isModelName(name)).toBe(true),
  )
  test.each([
    '-p',
    '--settings',
    'two words',
    'line\n',
    'nul\0',
    'tab\t',
    '\u{202E}supo',
    'modèle',
    '',
    'x'.repeat(longestModelName + 1),
  ])('cannot be %j', (name) => expect(isModelName(name)).toBe(false))
})

describe('a task', () => {
  const body = { description: 'Say it', projectId: taskId(1), branch: 'main' }
  test('takes a model, none, and the blank of a client that chose none', () => {
    const modelOf = (codexModel?: string | null) =>
      createTask.body.parse({ ...body, codexModel }).codexModel ?? null
    expect([modelOf('o4-mini'), modelOf(null), modelOf(), modelOf('')]).toEqual(['o4-mini', null, null, null])
  })
  test.each([
    createTask.body.safeParse({ ...body, codexModel: '--settings' }),
    updateTask.body.safeParse({ codexModel: '--settings' }),
  ])('refuses an option in the place of a model, with the field', (parsed) =>
    expect(parsed.error?.issues).toMatchObject([
      { path: ['codexModel'], message: 'The model does not have a valid name.' },
    ]),
  )
})
