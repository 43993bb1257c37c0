/** A fork at each of ten turns of a real run: the files as they were, and a conversation that ends there. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { forkTask } from '#domain/api/fork.schema.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'
import { workspaceFiles, type Files } from '../../server/workspaceFiles.ts'

const turnsInAll = 10
const numbers = Array.from({ length: turnsInAll }, (_, index) => index + 1)
/** Every third turn prints more than the CLI keeps in its context, so the CLI stores it in a file next to the session. */
const commandOf = (n: number) =>
  [
    `echo ${n} > file-${n}.txt`,
    'echo more >> README.md',
    ...(n > 2 ? [`rm file-${n - 2}.txt`] : []),
    ...(n % 3 === 0 ? ['seq 1 60000'] : []),
  ].join(' && ')

let scene: Scene
let taskId = ''
const turns: { readonly executionId: string; readonly files: Files }[] = []

beforeAll(async () => {
  scene = await openScene([
    ...numbers.map((n) => ({
      when: new RegExp(`This is turn ${n}[.]`),
      turns: [
        { tools: [{ name: 'Bash', input: { command: commandOf(n), description: 'Work' } }] },
        { text: `Turn ${n} is over.` },
      ],
    })),
    { when: /What do you remember/, turns: [{ text: 'What I was told.' }] },
  ])
  const { ada, projectId, product } = scene
  for (const n of numbers) {
    const message = `This is turn ${n}.`
    if (n === 1) taskId = (await ada.task(projectId, message)).id
    else await ada.ask(sendMessage, { params: { taskId }, body: { message } })
    const ended = await ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === n)
    if (ended.status !== 'completed') throw new Error(`Turn ${n} ended as ${ended.status}.`)
    turns.push({
      executionId: ended.execution?.id ?? '',
      files: await workspaceFiles(product.dataDir, taskId),
    })
  }
}, 600_000)
afterAll(() => scene?.close())

test.each(numbers)('turn %i', async (n) => {
  const { ada, api, product } = scene
  const turn = turns[n - 1]
  const { task } = await ada.ask(forkTask, {
    params: { taskId },
    body: { executionId: turn?.executionId ?? '', message: 'What do you remember?' },
  })
  expect((await ada.taskOnce(task.id, hasEnded)).status).toBe('completed')
  expect(await workspaceFiles(product.dataDir, task.id)).toEqual(turn?.files)
  const said = JSON.stringify(Object(api.requests.at(-1)?.body).messages)
  const remembered = numbers.filter((one) => said.includes(`This is turn ${one}.`))
  expect(remembered).toEqual(numbers.slice(0, n))
  expect(numbers.filter((one) => said.includes(`Turn ${one} is over.`))).toEqual(remembered)
  expect(said).toContain('What do you remember?')
})
