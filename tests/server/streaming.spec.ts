/** Output reaches people while the agent still works, not at its end. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getChat, getTerminal } from '#domain/api/chat.schema.ts'
import { executeTask } from '#domain/api/tasks.schema.ts'
import { asRead, connectLive } from '../product/live.ts'
import { createGate } from '../standins/messagesApi.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

const look = { name: 'Bash', input: { command: 'echo looked', description: 'Look' } }
const first = 'The first words are here.'
const last = 'And these are the last ones.'
const gate = createGate()

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    {
      when: /Talk/,
      turns: [
        { text: 'I look around.', tools: [look] },
        // After the first sentence the answer stands still.
        { text: `${first}\n${last}`, hold: { afterWords: 5, gate } },
      ],
    },
  ])
})
afterAll(() => scene?.close())

const textOf = (pieces: readonly { readonly text: string }[]) => pieces.map(({ text }) => text).join('')
const contentOf = (items: readonly { readonly content: string }[]) =>
  items.map(({ content }) => content).join('')

test('the first words are in the chat, and what was printed in the terminal, before the last are sent', async () => {
  const { ada, projectId } = scene
  const task = await ada.task(projectId, 'Talk')
  const params = { taskId: task.id }
  const live = await watching(ada, task.id)
  // A client that knows no more than the specification.
  const plain = await connectLive(scene.product.base, ada.token, 'websocket', false)
  await plain.join(task.id)
  await gate.reached
  const growing = () => plain.of('chat_message').filter(({ isPartial }) => isPartial)
  await plain.until('the first words, as a message', () =>
    growing().some(({ message }) => message?.includes(first) === true),
  )
  await live.until('the first words, as they are written', () =>
    textOf(live.of('chat_message_delta')).includes(first),
  )
  // Chat and terminal are gathered each by itself: what was printed before may be told a moment after.
  await live.until('what was printed', () => contentOf(live.of('terminal_output')).includes('looked\n'))
  const printed = contentOf(live.of('terminal_output'))
  expect(printed).toContain('$ echo looked')
  expect(printed).not.toContain('I look around.')
  // The model has not said the rest: nobody can have it.
  expect(JSON.stringify(live.heard)).not.toContain('last')
  expect(live.of('chat_message').map(({ message }) => message)).toEqual(['I look around.'])
  expect((await ada.taskOnce(task.id, () => true)).status).toBe('running')

  // Who comes now finds the words in the history, and the rest comes live.
  const late = await watching(ada, task.id)
  const { deltas, output } = await ada.ask(getTerminal, { params })
  expect(textOf(deltas)).toContain(first)
  expect(deltas).toEqual(asRead(live.of('chat_message_delta')))
  expect(contentOf(output)).toContain(printed)
  expect((await ada.ask(getChat, { params })).messages).toHaveLength(2)

  gate.release()
  await ada.taskOnce(task.id, hasEnded)
  const whole = `${first}\n${last}`
  for (const tab of [live, late])
    await tab.until('the whole message', () =>
      tab.of('chat_message').some(({ message }) => message === whole),
    )
  const pieces = live.of('chat_message_delta')
  expect([...deltas, ...asRead(late.of('chat_message_delta'))]).toEqual(asRead(pieces))
  expect(textOf(pieces)).toBe(`I look around.${whole}`)
  expect(late.of('chat_message')).toEqual(live.of('chat_message').slice(1))
  expect(live.of('chat_message').at(-1)?.id).toBe(pieces.at(-1)?.messageId)
  // Its last words can come as a partial message before.
  const complete = () => plain.of('chat_message').findLast(({ isPartial }) => isPartial === undefined)
  await plain.until('the whole message', () => complete()?.message === whole)
  expect(complete()).toEqual(plain.of('chat_message').at(-1))
  const before = growing().at(-1)
  expect(complete()).toMatchObject({ id: before?.id, isVisible: true })
  expect(whole.startsWith(before?.message ?? 'no message')).toBe(true)
  expect(plain.of('chat_message_words').length).toBeGreaterThan(0)
  for (const tab of [live, late, plain]) tab.close()
})

test('a command’s output comes as it prints', async () => {
  const { ada, projectId } = scene
  const task = await ada.task(projectId, 'Anything')
  await ada.taskOnce(task.id, hasEnded)
  const live = await watching(ada, task.id)
  const command = 'echo begun; until [ -e go ]; do sleep 0.05; done; echo over'
  await ada.ask(executeTask, { params: { taskId: task.id }, body: { command } })
  const printed = () =>
    live
      .of('command_output')
      .map(({ output }) => output)
      .join('')
  await live.until('the first line', () => printed().includes('begun'))
  // The command waits for this file.
  await writeFile(join(scene.product.dataDir, 'runner/tasks', task.id, 'tree/go'), '')
  await live.until('the last line', () => printed().includes('over\n'))
  expect(printed()).toBe('begun\nover\n')
  live.close()
})
