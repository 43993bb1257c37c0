/** Text that an agent would read as a command of its terminal is refused, with what to do instead; any other text is a message. */
import { describe, expect, test } from 'vitest'
import { refusalOfCommand, slashCommandsOf } from './slashCommands.ts'

describe('a message to claude', () => {
  test.each([
    ['/clear', 'Create a new task to start over, or send /compact to summarize this conversation.'],
    ['/model opus', 'Use the model picker instead.'],
    ['/help\nplease', 'Type / in the message box to see the commands that work here.'],
  ])('%j is refused with what to do instead', (message, instead) => {
    const name = /^\/\w+/.exec(message)?.[0]
    expect(refusalOfCommand('claude', message)).toBe(
      `${name} is a command of the agent's own terminal, and does not work here. ${instead}`,
    )
  })

  test('that nothing here is like is refused all the same', () =>
    expect(refusalOfCommand('claude', '/vim')).toBe(
      "/vim is a command of the agent's own terminal, and does not work here.",
    ))

  test.each([
    ...slashCommandsOf('claude').map(({ name }) => `/${name}`),
    '/compact keep the names',
    '/clear/all is a path',
    '/clearly not a command',
    '/constructor',
    '/usr/bin is a path',
    '/greet Bob',
    'What does /clear do?',
    ' /clear',
    '/',
  ])('%j is given to it', (message) => expect(refusalOfCommand('claude', message)).toBeNull())
})

test('what works on a conversation is refused where there is none yet', () => {
  expect(refusalOfCommand('claude', '/compact keep the plan', true)).toBe(
    '/compact works on a conversation, and there is none yet. Describe the task first.',
  )
  expect(refusalOfCommand('claude', '/compact keep the plan')).toBeNull()
  expect(refusalOfCommand('claude', '/init', true)).toBeNull()
})

test('cursor has none that are known', () => expect(refusalOfCommand('cursor', '/clear')).toBeNull())
