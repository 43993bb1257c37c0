import { describe, expect, test } from 'vitest'
import { answerAsEvents, answerAsJson, readConversation } from './wire.ts'
import type { MessagesRequest } from './wire.ts'
import { noteFile, scriptedAnswer } from './scripted.ts'

const tools = ['Bash', 'Read', 'Write', 'Edit'].map((name) => ({ name }))
type Message = MessagesRequest['messages'][number]
const person = (text: string): Message => ({ role: 'user', content: text })

/** The results of the tools in a repository with these files. */
function result(
  name: string,
  input: Readonly<Record<string, unknown>>,
  files: Readonly<Record<string, string>>,
): string {
  if (name === 'Read') {
    const file = Object.entries(files).find(([path]) => input['file_path'] === `/workspace/${path}`)
    const lines = (file?.[1] ?? '').split('\n')
    return lines.map((line, i) => `${i + 1}\t${line}`).join('\n')
  }
  const command = String(input['command'] ?? '')
  if (command.startsWith('pwd')) return ['/workspace', 'src/', ...Object.keys(files)].join('\n')
  if (command.startsWith('git ls-files')) return '42\n'
  if (command.startsWith('git status')) return '## main\n M src/a.ts\n'
  return 'done'
}

/** Plays a turn to its end; gives back what was asked of the tools and the last words. */
function play(messages: readonly Message[], files: Readonly<Record<string, string>>) {
  const conversation = [...messages]
  const calls: { name: string; input: Readonly<Record<string, unknown>> }[] = []
  for (let i = 0; i < 10; i += 1) {
    const answer = scriptedAnswer({ model: 'm', messages: conversation, tools })
    const uses = answer.blocks.filter((block) => block.type === 'tool_use')
    const said = answer.blocks.find((block) => block.type === 'text')?.text ?? ''
    conversation.push({
      role: 'assistant',
      content: answer.blocks.map((block) => ({ ...block })).filter((block) => block.type !== 'thinking'),
    })
    if (uses.length === 0) return { calls, said, conversation }
    calls.push(...uses)
    const results = uses.map(({ id, name, input }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: result(name, input, files),
    }))
    conversation.push({ role: 'user', content: results })
  }
  throw new Error('It never ends.')
}

const written = (calls: readonly { name: string; input: Readonly<Record<string, unknown>> }[]) =>
  calls.find(({ name }) => name === 'Write' || name === 'Edit')

describe('a task', () => {
  test('is looked at, noted and summed up', () => {
    const { calls, said } = play([person('Mend it\nsoon')], { 'README.md': '# Things\n', 'a.ts': '' })
    expect(calls.map(({ name }) => name)).toEqual(['Bash', 'Bash', 'Bash', 'Read', 'Write', 'Bash'])
    expect(written(calls)?.input).toEqual({
      file_path: `/workspace/${noteFile}`,
      content: [
        '# Flightdeck',
        '',
        'Notes of the built-in scripted model, which is not a real one.',
        '',
        '## Message 1',
        '',
        '> Mend it',
        '> soon',
        '',
        'What I saw:',
        '',
        '- tracked files: 42',
        '- changed files before this note: 1',
        '- `README.md`: Things',
        '',
      ].join('\n'),
    })
    expect(said).toContain('set `ANTHROPIC_API_KEY`')
  })

  test('in an empty repository ends as well', () => {
    const { calls } = play([person('Begin')], {})
    expect(String(written(calls)?.input['content'])).toContain('- no readme')
  })

  test('whose note is there already adds to its end', () => {
    const note = '# Flightdeck\n\n- same\n\n## Message 1\n\n- same\n'
    const { calls } = play([person('Again')], { 'main.py': 'x = 1', [noteFile]: note })
    expect(written(calls)).toMatchObject({
      name: 'Edit',
      input: {
        old_string: '## Message 1\n\n- same',
        new_string: expect.stringContaining('\n- same\n\n## Message 1\n\n> Again'),
      },
    })
  })

  test('that follows another in the same conversation is a message of its own', () => {
    const first = play([person('One')], { 'README.md': '# Things\n' })
    const { calls, said } = play([...first.conversation, person('Two')], {
      'README.md': '',
      [noteFile]: 'One\n',
    })
    expect(written(calls)?.input['new_string']).toContain('## Message 2\n\n> Two')
    expect(said).toContain(noteFile)
  })

  test('that cannot be noted says why', () => {
    const refused: Message[] = [person('Try')]
    const { conversation } = play(refused, {})
    const upToWrite = conversation.findIndex(
      ({ content }) =>
        Array.isArray(content) &&
        content.some((block) => block.type === 'tool_use' && block.name === 'Write'),
    )
    const write = conversation[upToWrite]
    const id = Array.isArray(write?.content)
      ? write.content.find((block) => block.type === 'tool_use')?.id
      : undefined
    const failed: Message = {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: id ?? '', content: 'EROFS: read-only\nmore', is_error: true },
      ],
    }
    const answer = scriptedAnswer({
      model: 'm',
      messages: [...conversation.slice(0, upToWrite + 1), failed],
      tools,
    })
    expect(answer.blocks).toEqual([
      { type: 'text', text: `I could not write \`${noteFile}\`: EROFS: read-only` },
    ])
  })
})

test('the same request has the same answer, another has another id', () => {
  const request = { model: 'm', messages: [person('One')], tools }
  expect(scriptedAnswer(request)).toEqual(scriptedAnswer(request))
  expect(scriptedAnswer(request).id).not.toBe(scriptedAnswer({ ...request, messages: [person('Two')] }).id)
})

test('a request that offers no tools has a few words for an answer', () => {
  const answer = scriptedAnswer({
    model: 'm',
    messages: [person('Write a short title for this long conversation')],
  })
  expect(answer).toMatchObject({ stopReason: 'end_turn', blocks: [{ text: 'Write a short title for this' }] })
})

test("what the agent's CLI puts around a message is not the message", () => {
  const { message, messageNumber, images } = readConversation({
    model: 'm',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>\nnot this\n</system-reminder>\n' },
          { type: 'text', text: 'One' },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: '# Environment' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Well' }] },
      { role: 'user', content: [{ type: 'text', text: '[Request interrupted by user]' }] },
      { role: 'user', content: [{ type: 'image' }, { type: 'text', text: 'Two' }] },
    ],
  })
  expect({ message, messageNumber, images }).toEqual({ message: 'Two', messageNumber: 2, images: 1 })
})

test('an answer in words is the same streamed and whole', () => {
  const answer = scriptedAnswer({ model: 'm', messages: [person('One')], tools })
  const frames = [...answerAsEvents(answer)]
  expect(frames.filter(({ paced }) => paced).length).toBeGreaterThan(10)
  const events: unknown[] = frames.map(({ frame }) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)))
  const streamed = JSON.stringify(events)
  expect(answerAsJson(answer)).toMatchObject({
    id: answer.id,
    stop_reason: 'tool_use',
    content: answer.blocks,
  })
  expect(streamed).toContain(`"id":"${answer.id}"`)
  expect(streamed).toContain('"stop_reason":"tool_use"')
  const words = events.map((event) => /"text_delta","text":(".*?[^\\]")/.exec(JSON.stringify(event))?.[1])
  const text = words
    .filter((word) => word !== undefined)
    .map((word): string => JSON.parse(word))
    .join('')
  expect(text).toBe(answer.blocks.find((block) => block.type === 'text')?.text)
})
