/** An agent's questions are limited in size before they are recorded; a request that nobody can answer is declined in the form of its protocol. */
import { expect, test } from 'vitest'
import { answerLine, askedIn, type ClaudeRequest } from './requests.ts'

const tool = (name: string, input: Record<string, unknown>): ClaudeRequest => ({
  subtype: 'can_use_tool',
  tool_name: name,
  input,
  permission_suggestions: [],
})
const sizeOf = (request: ClaudeRequest) => JSON.stringify(askedIn(request)).length
const long = 'x'.repeat(1_000_000)

test('a question with a thousand long options is bounded, and its options can be chosen', () => {
  const options = Array.from({ length: 1_000 }, (_, n) => ({
    label: `${n}${long.slice(0, 5_000)}`,
    description: long,
  }))
  const request = tool('AskUserQuestion', {
    questions: [{ question: long, options: options.slice(0, 1_000) }],
  })
  expect(sizeOf(request)).toBeLessThan(500_000)
  for (const { value, label } of askedIn(request)[0]?.options ?? []) {
    expect(value.length).toBeLessThanOrEqual(1_000)
    expect(value).toBe(label)
  }
})

test('a form with long names of fields and many choices is bounded', () => {
  const field = {
    type: 'string',
    title: long,
    description: long,
    enum: Array.from({ length: 5_000 }, () => long.slice(0, 500)),
  } as const
  const properties = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`field ${n}`, field]))
  const request: ClaudeRequest = {
    subtype: 'elicitation',
    mcp_server_name: 'forms',
    message: long,
    requested_schema: { properties, required: [] },
  }
  expect(sizeOf(request)).toBeLessThan(1_500_000)
})

test('a form offers the values that a field may have, and says what they mean', () => {
  const colours = [
    { const: '#f00', title: 'Red' },
    { const: '#00f', title: '' },
  ]
  const request: ClaudeRequest = {
    subtype: 'elicitation',
    mcp_server_name: 'forms',
    message: 'Which?',
    requested_schema: {
      properties: { colour: { type: 'string', description: 'Of the wall.', oneOf: colours } },
      required: [],
    },
  }
  expect(askedIn(request)[0]?.fields).toEqual([
    {
      name: 'colour',
      label: 'colour',
      description: 'Of the wall. #f00: Red',
      type: 'choice',
      required: false,
      choices: ['#f00', '#00f'],
    },
  ])
})

test('a command of nothing but backticks is shown', () => {
  const [asked] = askedIn(tool('Bash', { command: '` '.repeat(1_000_000) }))
  expect(asked?.body.length).toBeLessThan(65_000)
})

test('a rule that is longer than people could read is not offered', () => {
  const rules = [{ toolName: 'Bash', ruleContent: long }]
  const [asked] = askedIn({
    ...tool('Bash', { command: 'ls' }),
    permission_suggestions: [{ type: 'addRules', rules }],
  } as ClaudeRequest)
  expect(asked).toMatchObject({ rules: [], options: [{ value: 'allow' }, { value: 'deny' }] })
})

test('a form that nobody can answer is cancelled', () => {
  const request = { subtype: 'elicitation', mcp_server_name: 'forms', message: 'Which?' } as const
  expect(JSON.parse(answerLine('r', request, [], 'free'))).toMatchObject({
    response: { response: { action: 'cancel' } },
  })
})
