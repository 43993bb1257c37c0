/** An agent's to-do list, folded from its tool calls. */

export interface Todo {
  readonly text: string
  /** `doing`: the agent works on the item now. `gone`: the item was removed from the list, or was done in an earlier turn. */
  readonly state: 'open' | 'doing' | 'done' | 'gone'
}

/** The maximum number of items in a list, and of characters in an item's text. */
const most = { items: 100, text: 200 }

/**
 * The list after a tool call. A call with a whole list replaces the list, `TaskCreate` adds an item, and `TaskUpdate` changes one. Any other call,
 * and a call that cannot be parsed, changes nothing.
 */
export function todosAfter(
  before: readonly Todo[],
  { name, input }: { readonly name: string; readonly input: string },
): readonly Todo[] {
  const asked = parsed(input)
  const whole = asked['todos'] ?? asked['items']
  if (Array.isArray(whole)) return whole.slice(0, most.items).flatMap((one: unknown) => todoOf(fieldsOf(one)))
  if (name === 'TaskCreate') return [...before, ...todoOf(asked)].slice(0, most.items)
  if (name !== 'TaskUpdate') return before
  // `TaskUpdate` refers to items by number, counted from 1 in the order of creation.
  return before.map((todo, index) =>
    asked['taskId'] === `${index + 1}`
      ? { text: textIn(asked) ?? todo.text, state: stateIn(asked) ?? todo.state }
      : todo,
  )
}

export interface TodoCall {
  readonly executionId: string | null
  readonly name: string | null
  /** The input of the call; `null` when the input was erased. */
  readonly input: string | null
  readonly status: string
  readonly output: string | null
}

/** The list after the tool calls of several turns. `calls` is in order, but may lack the first calls. */
export function todosOf(calls: readonly TodoCall[]): readonly Todo[] {
  let todos: readonly Todo[] = []
  let turn: string | null | undefined
  for (const { executionId, name, input, status, output } of calls) {
    if (turn !== executionId) todos = withoutDone(todos)
    turn = executionId
    if (name === null || input === null || status === 'failed') continue
    const number = Number(/^Task #(\d{1,3}) created/.exec(output ?? '')?.[1] ?? todos.length + 1)
    if (name === 'TaskCreate') todos = upToNumber(todos, number)
    todos = todosAfter(todos, { name, input })
  }
  return todos
}

/** Makes `number` the number of the next item: drops all items if the number is taken, and adds missing items with the state `gone`. */
function upToNumber(todos: readonly Todo[], number: number): readonly Todo[] {
  const known = number > todos.length ? todos : []
  const missing = Math.min(number - 1, most.items) - known.length
  return [
    ...known,
    ...Array.from({ length: Math.max(0, missing) }, () => ({ text: '', state: 'gone' as const })),
  ]
}

/** The list at the start of the next turn: items that are done count as gone. */
export const withoutDone = (todos: readonly Todo[]): readonly Todo[] =>
  todos.map((todo) => (todo.state === 'done' ? { ...todo, state: 'gone' } : todo))

type Fields = Readonly<Record<string, unknown>>

function parsed(input: string): Fields {
  try {
    return fieldsOf(JSON.parse(input))
  } catch {
    return {}
  }
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? { ...value } : {})

function todoOf(fields: Fields): readonly Todo[] {
  const text = textIn(fields)
  return text === undefined ? [] : [{ text, state: stateIn(fields) ?? 'open' }]
}

function textIn({ content, text, subject }: Fields): string | undefined {
  const said = [content, text, subject].find((one) => typeof one === 'string')
  if (said === undefined) return undefined
  const characters = Array.from(said.slice(0, 2 * most.text + 2))
  return characters.length <= most.text ? said : `${characters.slice(0, most.text - 1).join('')}…`
}

function stateIn({ status, completed }: Fields): Todo['state'] | undefined {
  if (typeof completed === 'boolean') return completed ? 'done' : 'open'
  if (typeof status !== 'string') return undefined
  if (/deleted|cancel/i.test(status)) return 'gone'
  if (/completed|done/i.test(status)) return 'done'
  return /in_?progress/i.test(status) ? 'doing' : 'open'
}
