/** A task whose workspace is gone continues with its work and its agent's session as they were after the last turn. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { executeTask, getTask } from '#domain/api/tasks.schema.ts'
import { hasEnded, openScene, watching, type Scene } from '../../server/scene.ts'
import { unreadableBlobs } from '../../server/unreadableBlobs.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    {
      when: /Write something/,
      turns: [
        {
          tools: [
            {
              name: 'Bash',
              input: {
                command:
                  'echo kept > note.txt && git add note.txt && git commit -qm Note && echo more >> README.md && echo new > fresh.txt',
                description: 'Write',
              },
            },
          ],
        },
        { text: 'Written.' },
      ],
    },
    { when: /What was it/, turns: [{ text: 'As I said.' }] },
  ])
})
afterAll(() => scene?.close())

test('what was committed, changed and new is there again, and the agent knows what was said', async () => {
  const { ada, api, projectId, product } = scene
  const { id: taskId } = await ada.task(projectId, 'Write something')
  const params = { taskId }
  expect((await ada.taskOnce(taskId, hasEnded)).status).toBe('completed')
  const before = await ada.ask(getTask, { params })

  await product.terminate()
  await rm(join(product.dataDir, 'runner', 'tasks', taskId), { recursive: true })
  await product.restart()

  await ada.ask(sendMessage, { params, body: { message: 'What was it?' } })
  await ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === 2)
  expect(JSON.stringify(api.requests.at(-1)?.body)).toMatch(/Write something.*Written\..*What was it/)
  const after = await ada.ask(getTask, { params })
  // The agent's own commits are not brought back: what it had committed is new to git there.
  const files = ({ data }: typeof before) => data.changedFiles.map(({ status: _status, ...file }) => file)
  expect(files(after)).toEqual(files(before))
  expect(after.data.changedFiles.map(({ fileName }) => fileName).toSorted()).toEqual([
    'README.md',
    'fresh.txt',
    'note.txt',
  ])

  const live = await watching(ada, taskId)
  await ada.ask(executeTask, { params, body: { command: 'cat note.txt fresh.txt; tail -n 1 README.md' } })
  await live.until('the end of the command', ({ name }) => name === 'command_completed')
  live.close()
  const { output } = await ada.ask(getTerminal, { params })
  const text = output.map(({ content }) => content).join('')
  expect(text).toContain('recreated with its work as of the last turn')
  expect(text).toContain('kept\nnew\nmore\n')
})

test('a run that could not restore it leaves that to the next, which does not begin at the base', async () => {
  const { ada, projectId, product } = scene
  const { id: taskId } = await ada.task(projectId, 'Write something')
  const params = { taskId }
  expect((await ada.taskOnce(taskId, hasEnded)).status).toBe('completed')
  await product.terminate()
  await rm(join(product.dataDir, 'runner', 'tasks', taskId), { recursive: true })
  await product.restart()

  const live = await watching(ada, taskId)
  // What was saved is there, and cannot be read now.
  const putBack = await unreadableBlobs(join(product.dataDir, 'blobs'))
  await ada.ask(sendMessage, { params, body: { message: 'What was it?' } })
  await live.until(
    'the end of the turn',
    ({ name, payload }) => name === 'task_status_changed' && payload.status === 'failed',
  )
  await putBack()

  await ada.ask(executeTask, { params, body: { command: 'cat note.txt fresh.txt; tail -n 1 README.md' } })
  await live.until('the end of the command', ({ name }) => name === 'command_completed')
  live.close()
  const { output } = await ada.ask(getTerminal, { params })
  expect(output.map(({ content }) => content).join('')).toContain('kept\nnew\nmore\n')
})
