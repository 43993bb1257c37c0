/** An agent's to-do list, as a pull request or an issue shows it. */
import { describe, expect, test } from 'vitest'
import { todoLines } from '../task/codeHost/issue.ts'
import { todosAfter, todosOf, type Todo } from './todos.ts'

const call = (name: string, input: unknown) => ({ name, input: JSON.stringify(input) })
const after = (...calls: readonly { readonly name: string; readonly input: string }[]) =>
  calls.reduce<readonly Todo[]>(todosAfter, [])

describe('the list of several turns', () => {
  const made = (executionId: string, subject: string, number: number) => ({
    ...call('TaskCreate', { subject }),
    executionId,
    status: 'completed',
    output: `Task #${number} created successfully: ${subject}`,
  })
  const updated = (executionId: string, taskId: string, status: string) => ({
    ...call('TaskUpdate', { taskId, status }),
    executionId,
    status: 'completed',
    output: null,
  })
  const seen = (todos: readonly Todo[]) =>
    todos.filter(({ state }) => state !== 'gone').map(({ text, state }) => `${text}: ${state}`)

  test('what was done in an earlier turn is gone, and numbers go on', () =>
    expect(
      seen(
        todosOf([
          made('a', 'Read', 1),
          made('a', 'Fix', 2),
          updated('a', '1', 'completed'),
          made('b', 'Test', 3),
          updated('b', '2', 'completed'),
        ]),
      ),
    ).toEqual(['Fix: done', 'Test: open']))

  test('calls that are missing shift no number', () =>
    expect(
      seen(todosOf([updated('a', '1', 'completed'), made('a', 'Test', 3), updated('a', '3', 'completed')])),
    ).toEqual(['Test: done']))

  test('a numbering that begins anew replaces the list', () =>
    expect(seen(todosOf([made('a', 'Old', 1), made('b', 'New', 1)]))).toEqual(['New: open']))

  test.each(['in_progress', 'inProgress', 'TODO_STATUS_IN_PROGRESS'])(
    'an item that is %s is told apart',
    (status) =>
      expect(seen(todosOf([made('a', 'Read', 1), made('a', 'Fix', 2), updated('a', '2', status)]))).toEqual([
        'Read: open',
        'Fix: doing',
      ]),
  )

  test('a call that failed or was erased changes nothing', () =>
    expect(
      seen(
        todosOf([
          made('a', 'Read', 1),
          { ...made('a', 'Not made', 2), status: 'failed' },
          { ...updated('a', '1', 'completed'), input: null },
        ]),
      ),
    ).toEqual(['Read: open']))
})

describe('github gap 9: the to-do list of an agent', () => {
  test.each([
    [
      'TodoWrite of claude',
      [
        call('TodoWrite', { todos: [{ content: 'Old', status: 'pending' }] }),
        call('TodoWrite', {
          todos: [
            { content: 'Read', status: 'completed', activeForm: 'Reading' },
            { content: 'Fix', status: 'in_progress', activeForm: 'Fixing' },
            { content: 'Test', status: 'pending' },
          ],
        }),
      ],
    ],
    [
      'TaskCreate and TaskUpdate of claude',
      [
        call('TaskCreate', { subject: 'Read', description: 'All of it' }),
        call('TaskCreate', { subject: 'Wrong' }),
        call('TaskUpdate', { taskId: '1', status: 'completed' }),
        call('TaskUpdate', { taskId: '2', status: 'deleted' }),
        call('TaskCreate', { subject: 'Mend' }),
        call('TaskUpdate', { taskId: '3', status: 'in_progress', subject: 'Fix' }),
        call('TaskUpdate', { taskId: '9', status: 'completed' }),
        call('TaskCreate', { subject: 'Test' }),
      ],
    ],
    [
      'codex',
      [
        call('Todo', {
          todo: 'Fix',
          items: [
            { text: 'Read', completed: true },
            { text: 'Fix', completed: false },
            { text: 'Test', completed: false },
          ],
        }),
      ],
    ],
    [
      'codex that tells what it is doing',
      [
        call('Todo', {
          todo: 'Fix',
          items: [
            { text: 'Read', status: 'completed' },
            { text: 'Fix', status: 'inProgress' },
            { text: 'Test', status: 'pending' },
          ],
        }),
      ],
    ],
  ])('is that of %s', (_, calls) => {
    expect(todoLines(after(...calls))).toBe('- [x] `Read`\n- [ ] `Fix`\n- [ ] `Test`')
  })

  test('stays as it was where a call cannot be read', () => {
    const list = after(call('TodoWrite', { todos: [{ content: 'Read', status: 'pending' }] }))
    for (const input of ['', '{', 'null', '{"left_out":"…"}', '{"todos":7}', '[]'])
      expect(todosAfter(list, { name: 'TodoWrite', input })).toEqual(list)
    expect(todoLines([])).toBe('')
  })

  test('is bounded, and brings no mention, link, picture or line of its own', () => {
    const evil = '@ada `x` [a](https://evil.example) #1 <img src=x>\n- [x] all done\n```'
    const content = `${evil} ${'y'.repeat(500)}`
    const many = Array.from({ length: 500 }, () => ({ content, status: 'pending' }))
    const list = after(call('TodoWrite', { todos: many }))
    expect(list.length).toBeLessThanOrEqual(100)
    const lines = todoLines(list).split('\n')
    expect(lines).toHaveLength(21)
    expect(lines.at(-1)).toBe('- and 80 more')
    for (const line of lines.slice(0, 20)) {
      // All of it is code, in which nothing has a meaning.
      expect(line).toMatch(/^- \[ \] (`+) .* \1$/)
      expect(line.length).toBeLessThan(230)
    }
    const created = after(...many.map(() => call('TaskCreate', { subject: content })))
    expect(created.length).toBeLessThanOrEqual(100)
  })
})
