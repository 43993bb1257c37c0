/** Forks, undos and comparisons when something is missing, hostile or requested twice: the missing part is named, and the rest works. */
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { addAlternative, getComparison } from '#domain/api/comparison.schema.ts'
import { forkTask, previewUndo, undoTurn } from '#domain/api/fork.schema.ts'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import {
  createPullRequest,
  createTask,
  deleteTask,
  executeTask,
  getPullRequest,
  getTask,
  getTaskDiff,
  type Task,
} from '#domain/api/tasks.schema.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { createGate } from '../../standins/messagesApi.ts'
import { bareRepository } from '../../server/pushing.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'
import { workspaceFiles } from '../../server/workspaceFiles.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Do it' } })
const turn = (when: RegExp, command: string) => ({
  when,
  turns: [{ tools: [bash(command)] }, { text: 'It is done.' }],
})
const gate = createGate()

/** What an agent that means ill leaves behind for whoever saves and restores its files. */
const traps = [
  'ln -s /etc out && ln -s ../../../../.. up && rm -r src && ln -s /tmp src',
  "printf '* filter=evil diff=evil working-tree-encoding=UTF-16 ident eol=crlf text\\n' > .gitattributes",
  "git config filter.evil.clean 'touch /workspace/ran; cat' && git config core.fsmonitor 'touch /workspace/ran'",
  "mkdir -p .git/hooks && printf '#!/bin/sh\\ntouch /workspace/ran\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout",
  "mkdir -p big && truncate -s 1G big/one && printf 'big/\\n' > .gitignore",
  "printf 'a\\r\\nb\\n' > bytes.txt",
].join(' && ')

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    turn(/Set traps/, traps),
    turn(
      /Spring them/,
      'rm out src .gitattributes .gitignore && mkdir src out && echo plain > src/plain.txt && echo in > out/in.txt',
    ),
    turn(/Write one/, 'echo one > one.txt'),
    turn(/Write two/, 'echo two > two.txt'),
    { when: /What do you remember/, turns: [{ text: 'What I was told.' }] },
    { when: /Hold on/, turns: [{ text: 'I hold on and on.', hold: { afterWords: 2, gate } }] },
  ])
})
afterAll(() => scene?.close())

const endOf = (id: string, n: number): Promise<Task> =>
  scene.ada.taskOnce(id, (task) => hasEnded(task) && task.execution?.turn === n)
const filesOf = (id: string) => workspaceFiles(scene.product.dataDir, id, (path) => !path.startsWith('big/'))

/** A task with a turn for each message; gives its id and the executions of its turns. */
async function taskOf(...messages: readonly string[]) {
  const { ada, projectId } = scene
  const [description = '', ...others] = messages
  const { task } = await ada.ask(createTask, {
    body: { projectId, description, branch: 'main', agent: 'claude' },
  })
  const params = { taskId: task.id }
  const turns = [(await endOf(task.id, 1)).execution?.id ?? '']
  for (const message of others) {
    await ada.ask(sendMessage, { params, body: { message } })
    turns.push((await endOf(task.id, turns.length + 1)).execution?.id ?? '')
  }
  return { id: task.id, params, turns }
}
const named = (executionId = '') => ({ executionId })
const lastConversation = () => JSON.stringify(Object(scene.api.requests.at(-1)?.body).messages)

describe('a workspace with traps', () => {
  test('is saved, gone back from and come back to as it was, and nothing of it runs', async () => {
    const { ada } = scene
    const { id, params, turns } = await taskOf('Set traps')
    const trapped = await filesOf(id)
    expect(trapped).toMatchObject({ out: 'link /etc', src: 'link /tmp', 'bytes.txt': '- a\r\nb\n' })
    await ada.ask(sendMessage, { params, body: { message: 'Spring them' } })
    turns.push((await endOf(id, 2)).execution?.id ?? '')
    const sprung = await filesOf(id)
    const began = performance.now()
    const undone = await ada.ask(undoTurn, { params, body: named(turns[1]) })
    expect(undone.restored).toBe(true)
    expect(await filesOf(id)).toEqual(trapped)
    await ada.ask(undoTurn, { params, body: named(undone.undoId) })
    expect(await filesOf(id)).toEqual(sprung)
    const all = await ada.ask(undoTurn, { params, body: named(turns[0]) })
    expect(all.restored).toBe(true)
    // The ignored gigabyte is neither read nor copied.
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(Object.keys(await filesOf(id))).not.toContain('ran')
    expect(Object.keys(await filesOf(id)).toSorted()).toEqual(['README.md', 'src/greet.js'])

    const { task } = await ada.ask(forkTask, {
      params,
      body: { ...named(turns[0]), message: 'What do you remember?' },
    })
    expect((await endOf(task.id, 1)).status).toBe('completed')
    expect(await filesOf(task.id)).toEqual(trapped)
  })
})

describe('asked for twice', () => {
  test('an undo is done once, and its undo once', async () => {
    const { ada } = scene
    const { params, turns } = await taskOf('Write one', 'Write two')
    const undo = (executionId = '') => ada.ask(undoTurn, { params, body: { executionId } })
    const both = await Promise.allSettled([undo(turns[1]), undo(turns[1])])
    const [done] = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await ada.refused(undoTurn, { params, body: named(turns[1]) })).toMatchObject({
      status: 409,
      code: 'already_undone',
    })
    await Promise.allSettled([undo(done?.undoId), undo(done?.undoId)])
    const { task } = await ada.ask(getTask, { params })
    expect(task.undone).toEqual([])
    expect(Object.keys(await filesOf(params.taskId))).toContain('two.txt')
  })

  test('the one to keep becomes one pull request; one that was deleted is not there', async () => {
    const { ada } = scene
    const { params } = await taskOf('Write one')
    const answers = await Promise.all([1, 2].map(() => ada.ask(createPullRequest, { params, body: {} })))
    expect(new Set(answers.map(({ pr }) => pr.number)).size).toBe(1)
    const again = await ada.ask(createPullRequest, { params, body: {} })
    expect(again.pr.number).toBe(answers[0]?.pr.number)
    const { task } = await ada.ask(addAlternative, {
      params,
      body: { agent: 'claude', message: 'Write two' },
    })
    await endOf(task.id, 1)
    await ada.ask(deleteTask, { params: { taskId: task.id } })
    expect(await ada.refused(createPullRequest, { params: { taskId: task.id }, body: {} })).toMatchObject({
      status: 404,
    })
    expect((await ada.ask(getComparison, { params })).compared).toHaveLength(1)
  })

  test('a fork under one id is created once, and found again', async () => {
    const { ada } = scene
    const { params, turns } = await taskOf('Write one')
    const id = '0199c6c2-7777-7000-8000-0000000000f1'
    const fork = () => ada.ask(forkTask, { params, body: { id, ...named(turns[0]) } })
    const both = await Promise.allSettled([fork(), fork()])
    expect(both.filter(({ status }) => status === 'fulfilled')).not.toHaveLength(0)
    const { task } = await ada.ask(getTask, { params })
    expect(task.forks?.map(({ taskId }) => taskId)).toEqual([id])
  })
})

describe('an undo', () => {
  test('of everything leaves nothing for a pull request; one of a part publishes the rest', async () => {
    const { ada } = scene
    const { params, turns } = await taskOf('Write one', 'Write two')
    const all = await ada.ask(undoTurn, { params, body: named(turns[0]) })
    expect(all.restored).toBe(true)
    expect(await ada.refused(createPullRequest, { params, body: {} })).toMatchObject({
      code: 'no_changes',
    })
    await ada.ask(undoTurn, { params, body: named(all.undoId) })
    await ada.ask(undoTurn, { params, body: named(turns[1]) })
    await ada.ask(createPullRequest, { params, body: {} })
    const { data } = await ada.ask(getTaskDiff, { params })
    expect(data.changedFiles.map(({ fileName }) => fileName)).toEqual(['one.txt'])
    expect((await ada.ask(getPullRequest, { params })).pr?.number).toBeGreaterThan(0)
  })

  test('is refused while a command waits or runs, and a fork of what runs says that it runs', async () => {
    const { ada } = scene
    const { id, params, turns } = await taskOf('Write one')
    await ada.ask(sendMessage, { params, body: { message: 'Hold on' } })
    await gate.reached
    const running = await ada.taskOnce(id, ({ status }) => status === 'running')
    await ada.ask(executeTask, { params, body: { command: 'echo later' } }).catch(() => undefined)
    expect(await ada.refused(undoTurn, { params, body: named(turns[0]) })).toMatchObject({
      code: 'task_running',
    })
    const fork = await ada.refused(forkTask, { params, body: named(running.execution?.id) })
    expect(fork).toMatchObject({ status: 409, code: 'no_snapshot' })
    expect(fork.error).toContain('still running')
    gate.release()
    await ada.taskOnce(id, hasEnded)
  })

  test('tells its turns where no runner has the files', async () => {
    const { ada, product } = scene
    const { id, params, turns } = await taskOf('Write one', 'Write two')
    const tree = join(product.dataDir, 'runner', 'tasks', id)
    await rename(tree, `${tree}.away`)
    try {
      expect(await ada.ask(previewUndo, { params, query: named(turns[0]) })).toMatchObject({
        compared: false,
        undone: turns,
      })
    } finally {
      await rename(`${tree}.away`, tree)
    }
    expect(
      await ada.refused(previewUndo, { params, query: named('0199c6c2-7777-7000-8000-00000000dead') }),
    ).toMatchObject({ status: 404 })
  })
})

describe('a fork of a fork', () => {
  test('of a task whose later turns were undone has what counted, and no more', async () => {
    const { ada } = scene
    const { params, turns } = await taskOf('Write one', 'Write two')
    await ada.ask(undoTurn, { params, body: named(turns[1]) })
    const first = await ada.ask(forkTask, {
      params,
      body: { ...named(turns[0]), message: 'What do you remember?' },
    })
    const ended = await endOf(first.task.id, 1)
    const second = await ada.ask(forkTask, {
      params: { taskId: first.task.id },
      body: { ...named(ended.execution?.id), message: 'What do you remember?' },
    })
    expect((await endOf(second.task.id, 1)).status).toBe('completed')
    const said = lastConversation()
    expect(said).toContain('Write one')
    expect(said).not.toContain('Write two')
    expect(Object.keys(await filesOf(second.task.id))).toContain('one.txt')
    expect(Object.keys(await filesOf(second.task.id))).not.toContain('two.txt')
  })
})

describe('a comparison', () => {
  test('with an agent that no runner has is refused, and gives its place to nobody', async () => {
    const { ada } = scene
    const { params } = await taskOf('Write one')
    expect(await ada.refused(addAlternative, { params, body: { agent: 'codex' } })).toMatchObject({
      code: 'agent_unavailable',
      field: 'agent',
    })
    const unfit = { agent: 'claude', id: params.taskId } as const
    expect(await ada.refused(addAlternative, { params, body: unfit })).toMatchObject({
      code: 'already_exists',
    })
    expect((await ada.ask(getTask, { params })).task.alternatives ?? []).toEqual([])
  })
})

describe('what is damaged', () => {
  test('a task that cannot be read from some event on: its history shows the rest, and nothing is begun from it', async () => {
    const { ada, product } = scene
    const { id, params, turns } = await taskOf('Write one', 'Write two')
    const other = await taskOf('Write one', 'Write two')
    await product.terminate()
    const db = new DatabaseSync(join(product.dataDir, 'events.sqlite'))
    const { revision } = Object(
      db
        .prepare(
          "SELECT max(revision) AS revision FROM events WHERE stream = ? AND type = 'ExecutionCompleted'",
        )
        .get(taskStream(id)),
    )
    db.prepare("UPDATE events SET data = '{}' WHERE stream = ? AND revision = ?").run(
      taskStream(id),
      revision,
    )
    db.close()
    await product.restart()
    const history = await ada.ask(getTaskHistory, { params, query: { limit: '1000' } })
    expect(history.missing).toMatchObject([{ stream: 'task', revision }])
    expect(history.items.length).toBeGreaterThan(revision - 1)
    const asked = {
      fork: () => ada.refused(forkTask, { params, body: named(turns[0]) }),
      undo: () => ada.refused(undoTurn, { params, body: named(turns[0]) }),
      preview: () => ada.refused(previewUndo, { params, query: named(turns[0]) }),
      alternative: () => ada.refused(addAlternative, { params, body: { agent: 'claude' } }),
    }
    for (const [name, ask] of Object.entries(asked)) {
      const began = performance.now()
      const { code } = await ask()
      expect({ name, code, isSoon: performance.now() - began < 5_000 }).toEqual({
        name,
        code: 'history_unreadable',
        isSoon: true,
      })
    }
    expect((await ada.ask(getComparison, { params })).compared).toHaveLength(1)
    // Another task is restored as ever.
    const undone = await ada.ask(undoTurn, { params: other.params, body: named(other.turns[1]) })
    expect(undone.restored).toBe(true)
  })

  test('a repository that is gone: a fork says so, and the history is there', async () => {
    const { ada, product } = scene
    const { params, turns } = await taskOf('Write one')
    const bare = await bareRepository(product.dataDir)
    await rename(bare, `${bare}.away`)
    try {
      const { task } = await ada.ask(forkTask, {
        params,
        body: { ...named(turns[0]), message: 'What do you remember?' },
      })
      const ended = await endOf(task.id, 1)
      expect(ended.status).toBe('failed')
      expect(ended.failure?.reason).toMatch(/repository/i)
      const history = await ada.ask(getTaskHistory, { params, query: {} })
      expect(history.missing).toEqual([])
      expect((await ada.ask(getTask, { params })).task.forks).toHaveLength(1)
    } finally {
      await rename(`${bare}.away`, bare)
    }
    expect(await readFile(join(bare, 'HEAD'), 'utf8')).toContain('refs/')
  })

  test('a source that was deleted: its fork goes on, and nothing more begins from it', async () => {
    const { ada } = scene
    const { params, turns } = await taskOf('Write one')
    const { task } = await ada.ask(forkTask, { params, body: named(turns[0]) })
    await ada.ask(deleteTask, { params })
    expect(await ada.refused(forkTask, { params, body: named(turns[0]) })).toMatchObject({ status: 404 })
    await ada.ask(sendMessage, {
      params: { taskId: task.id },
      body: { message: 'What do you remember?' },
    })
    expect((await endOf(task.id, 1)).status).toBe('completed')
    expect(Object.keys(await filesOf(task.id))).toContain('one.txt')
  })
})
