/** New tasks from turns, and undone turns: with the real CLI, whose requests reveal what it remembers, and the files on the disk. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { forkTask, previewUndo, undoTurn } from '#domain/api/fork.schema.ts'
import { getProvenance } from '#domain/api/provenance.schema.ts'
import { createTask, executeTask, getTask, getTaskDiff, type Task } from '#domain/api/tasks.schema.ts'
import { createGate } from '../../standins/messagesApi.ts'
import { eventually } from '../../server/engines.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'
import { workspaceFiles, type Files } from '../../server/workspaceFiles.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Do it' } })
const turn = (when: RegExp, command: string, text: string) => ({
  when,
  turns: [{ tools: [bash(command)] }, { text }],
})
const gate = createGate()

const scripts = [
  turn(
    /First turn/,
    [
      'echo one > one.txt',
      'echo more >> README.md',
      "printf 'crlf\\r\\n' > crlf.txt",
      "echo '*.txt text eol=lf' > .gitattributes",
      "printf 'ignored/\\n' > .gitignore",
      'mkdir -p ignored deep/er && echo kept > ignored/large && echo deep > deep/er/file',
      'chmod +x one.txt && ln -s one.txt link',
    ].join(' && '),
    'The first is done.',
  ),
  turn(
    /Second turn/,
    'echo two > two.txt && rm one.txt && git rm -q src/greet.js && git add -A && git commit -qm Second && rm -r deep && echo file > deep && echo again > ignored/large',
    'The second is done.',
  ),
  turn(
    /Third turn/,
    "echo three > three.txt && rm deep && printf 'ignored/\\ntwo.txt\\n' > .gitignore && echo hidden > two.txt && git rm -q --cached two.txt",
    'The third is done.',
  ),
  { when: /What do you remember/, turns: [{ text: 'What I was told.' }] },
  { when: /Hold on/, turns: [{ text: 'I hold on and on.', hold: { afterWords: 2, gate } }] },
]

let scene: Scene
let taskId = ''
/** The executions of the turns, and the files after each. */
const turns: string[] = []
const after: Files[] = []

beforeAll(async () => {
  scene = await openScene(scripts)
  const { ada, projectId } = scene
  const description = 'First turn'
  const body = { projectId, description, branch: 'main', agent: 'claude' } as const
  taskId = (await ada.ask(createTask, { body })).task.id
  await noteTurn(1)
  for (const [n, message] of ['Second turn', 'Third turn'].entries()) {
    await ada.ask(sendMessage, { params: { taskId }, body: { message } })
    await noteTurn(n + 2)
  }
})
afterAll(() => scene?.close())

async function noteTurn(n: number): Promise<void> {
  const ended = await endOf(taskId, n)
  expect(ended.status).toBe('completed')
  turns.push(ended.execution?.id ?? '')
  after.push(await filesOf(taskId))
}

const endOf = (id: string, n: number): Promise<Task> =>
  scene.ada.taskOnce(id, (task) => hasEnded(task) && task.execution?.turn === n)

const filesOf = (id: string, isWanted = (path: string) => !path.startsWith('ignored/')): Promise<Files> =>
  workspaceFiles(scene.product.dataDir, id, isWanted)

/** What the model was sent last, without the rest of the request. */
const lastConversation = () => JSON.stringify(Object(scene.api.requests.at(-1)?.body).messages)

describe('a new task from a turn', () => {
  test.each([1, 2, 3])(
    '%i has its files, and its agent remembers exactly what was said by then',
    async (n) => {
      const { ada } = scene
      const executionId = turns[n - 1] ?? ''
      const { task } = await ada.ask(forkTask, {
        params: { taskId },
        body: { executionId, message: 'What do you remember?', title: `From turn ${n}` },
      })
      expect(task).toMatchObject({
        title: `From turn ${n}`,
        forkedFrom: { taskId, executionId, title: 'First turn', resumes: true },
        branch: 'main',
      })
      const ended = await endOf(task.id, 1)
      expect(ended).toMatchObject({ status: 'completed', failure: null })
      expect(ended.workingBranch).not.toBe((await ada.taskOnce(taskId, () => true)).workingBranch)
      // An ignored file is not in a snapshot.
      const isInSnapshot = (path: string) => n < 3 || path !== 'two.txt'
      const wanted = Object.entries(after[n - 1] ?? {}).filter(([path]) => isInSnapshot(path))
      expect(await filesOf(task.id)).toEqual(Object.fromEntries(wanted))

      const said = lastConversation()
      const words = ['First turn', 'The first is done', 'Second turn', 'The second is done', 'Third turn']
      for (const [index, one] of words.entries())
        expect(said.includes(one), `${one} in the fork of turn ${n}`).toBe(index < 2 * n)
      expect(said).toContain('What do you remember?')
    },
  )

  test('leaves the old task as it was, and both name each other', async () => {
    const task = await scene.ada.taskOnce(taskId, () => true)
    expect(task).toMatchObject({ status: 'completed', execution: { turn: 3 } })
    expect(task.forks?.map(({ executionId, title }) => [executionId, title])).toEqual(
      turns.map((executionId, index) => [executionId, `From turn ${index + 1}`]),
    )
    expect(await filesOf(taskId)).toEqual(after[2])
  })

  test('is made once for one key, and can wait for its first message', async () => {
    const { ada } = scene
    const ask = {
      params: { taskId },
      body: { executionId: turns[0] ?? '' },
      headers: { 'Idempotency-Key': '0199c6c2-7777-7000-8000-000000000001' },
    }
    const first = await ada.ask(forkTask, ask)
    const second = await ada.ask(forkTask, ask)
    expect(second.task.id).toBe(first.task.id)
    expect(first.task).toMatchObject({ status: 'pending', title: 'First turn', execution: null })
    const { task } = await ada.ask(getTask, { params: { taskId } })
    expect(task.forks?.filter((fork) => fork.taskId === first.task.id)).toHaveLength(1)

    await ada.ask(sendMessage, {
      params: { taskId: first.task.id },
      body: { message: 'What do you remember?' },
    })
    expect((await endOf(first.task.id, 1)).status).toBe('completed')
    expect(await filesOf(first.task.id)).toEqual(after[0])
    expect(lastConversation()).toContain('The first is done')
  })

  test('works when the workspace is gone from the runner', async () => {
    const { ada, product } = scene
    const { task: source } = await ada.ask(forkTask, {
      params: { taskId },
      body: { executionId: turns[1] ?? '', message: 'What do you remember?' },
    })
    const first = await endOf(source.id, 1)
    await product.terminate()
    await rm(join(product.dataDir, 'runner', 'tasks', source.id), { recursive: true })
    await product.restart()
    const { task } = await ada.ask(forkTask, {
      params: { taskId: source.id },
      body: { executionId: first.execution?.id ?? '', message: 'What do you remember?' },
    })
    expect((await endOf(task.id, 1)).status).toBe('completed')
    expect(await filesOf(task.id)).toEqual(after[1])
  })

  test('is refused of a turn that is not there, of one that still runs, and to others', async () => {
    const { ada, product } = scene
    const unknown = '0199c6c2-7777-7000-8000-00000000dead'
    const params = { taskId }
    expect(await ada.refused(forkTask, { params, body: { executionId: unknown } })).toMatchObject({
      status: 404,
      code: 'not_found',
    })
    const grace = await product.signIn('grace')
    for (const executionId of turns) {
      expect(await grace.refused(forkTask, { params, body: { executionId } })).toMatchObject({ status: 404 })
      expect(await grace.refused(undoTurn, { params, body: { executionId } })).toMatchObject({ status: 404 })
      expect(await grace.refused(previewUndo, { params, query: { executionId } })).toMatchObject({
        status: 404,
      })
    }
  })
})

describe('the lines of a file', () => {
  test('are told with the turn that wrote them and what it was asked; what was there before is unknown', async () => {
    const { ada } = scene
    const params = { taskId }
    const readme = await ada.ask(getProvenance, { params, query: { path: 'README.md' } })
    expect(readme.ranges).toMatchObject([
      { from: 1, to: 3, executionId: null },
      { from: 4, to: 4, executionId: turns[0] },
    ])
    expect(readme.turns).toMatchObject([
      { taskId, executionId: turns[0], kind: 'turn', agent: 'claude', prompt: 'First turn' },
    ])
    const third = await ada.ask(getProvenance, { params, query: { path: 'three.txt' } })
    expect(third.ranges).toMatchObject([{ from: 1, to: 1, executionId: turns[2] }])
    expect(await ada.refused(getProvenance, { params, query: { path: 'none.txt' } })).toMatchObject({
      status: 404,
    })
    const grace = await scene.product.signIn('grace')
    expect(await grace.refused(getProvenance, { params, query: { path: 'README.md' } })).toMatchObject({
      status: 404,
    })
  })
})

describe('a turn undone', () => {
  test('shows first what it would change, and then has changed just that', async () => {
    const { ada } = scene
    const params = { taskId }
    const preview = await ada.ask(previewUndo, { params, query: { executionId: turns[1] ?? '' } })
    expect(preview).toMatchObject({ compared: true, undone: turns.slice(1), redone: [], kept: [] })
    expect(preview.files).toEqual([
      { path: '.gitignore', change: 'modified' },
      { path: 'deep/er/file', change: 'added' },
      { path: 'one.txt', change: 'added' },
      { path: 'src/greet.js', change: 'added' },
      { path: 'three.txt', change: 'deleted' },
    ])
    expect(await filesOf(taskId)).toEqual(after[2])

    const done = await ada.ask(undoTurn, { params, body: { executionId: turns[1] ?? '' } })
    expect(done).toMatchObject({ restored: true, task: { undone: turns.slice(1) } })
    // What git ignored at the time is no part of a snapshot: it stays.
    expect(await filesOf(taskId)).toEqual({ ...after[0], 'two.txt': '- hidden\n' })
    expect(await filesOf(taskId, (path) => path.startsWith('ignored/'))).toEqual({
      'ignored/large': '- again\n',
    })
    const { data } = await ada.ask(getTaskDiff, { params })
    expect(data.changedFiles.map(({ fileName }) => fileName)).not.toContain('three.txt')
    expect(data.tree).not.toBeNull()
  })

  test('is forgotten by the agent, and stays in the history', async () => {
    const { ada } = scene
    const params = { taskId }
    await ada.ask(sendMessage, { params, body: { message: 'What do you remember?' } })
    const ended = await endOf(taskId, 4)
    expect(ended.status).toBe('completed')
    const said = lastConversation()
    expect(said).toContain('The first is done')
    expect(said).not.toContain('Second turn')
    expect(said).not.toContain('Third turn')
    turns.push(ended.execution?.id ?? '')
  })

  test('comes back when the undo is undone, and an undo of everything begins anew', async () => {
    const { ada } = scene
    const params = { taskId }
    const all = await ada.ask(undoTurn, { params, body: { executionId: turns[0] ?? '' } })
    expect(all.restored).toBe(true)
    expect(await filesOf(taskId)).toMatchObject({ 'README.md': '- # Engine\n\nIt computes.\n' })
    expect(Object.keys(await filesOf(taskId))).not.toContain('one.txt')

    const back = await ada.ask(undoTurn, { params, body: { executionId: all.undoId } })
    expect(back.restored).toBe(true)
    expect(await filesOf(taskId)).toEqual({ ...after[0], 'two.txt': '- hidden\n' })
    await ada.ask(sendMessage, { params, body: { message: 'What do you remember?' } })
    expect((await endOf(taskId, 5)).status).toBe('completed')
    expect(lastConversation()).toContain('The first is done')
    expect(lastConversation()).not.toContain('Second turn')
  })

  test('is refused while a turn runs', async () => {
    const { ada } = scene
    const params = { taskId }
    await ada.ask(sendMessage, { params, body: { message: 'Hold on' } })
    await gate.reached
    const query = { executionId: turns[0] ?? '' }
    expect(await ada.refused(undoTurn, { params, body: query })).toMatchObject({
      status: 409,
      code: 'task_running',
    })
    expect(await ada.refused(previewUndo, { params, query })).toMatchObject({ status: 409 })
    const running = await ada.taskOnce(taskId, ({ status }) => status === 'running')
    const executionId = running.execution?.id ?? ''
    expect(await ada.refused(forkTask, { params, body: { executionId } })).toMatchObject({
      status: 409,
      code: 'no_snapshot',
    })
    gate.release()
    expect((await endOf(taskId, 6)).status).toBe('completed')
  })

  test('is whole after a kill -9 in its middle', { timeout: 180_000 }, async () => {
    const { ada, product, projectId } = scene
    const body = { projectId, description: 'First turn', branch: 'main', agent: 'claude' } as const
    const { id } = (await ada.ask(createTask, { body })).task
    const params = { taskId: id }
    expect((await endOf(id, 1)).status).toBe('completed')
    const fill =
      'mkdir -p many && for n in $(seq 1 1000); do echo $n > many/$n.txt; done; echo other > one.txt'
    await ada.ask(executeTask, { params, body: { command: fill } })
    await ada.taskOnce(id, (task) => hasEnded(task) && task.execution?.turn === 2)
    const filled = (await ada.taskOnce(id, () => true)).execution?.id ?? ''
    for (const wait of [20, 200]) {
      const asking = ada.ask(undoTurn, { params, body: { executionId: filled } }).catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, wait))
      await product.kill9()
      await asking
      await eventually('nothing of it is left', async () => (await product.processes()).length === 0)
      await product.restart()
      const task = await ada.taskOnce(id, () => true)
      // The command may not have been recorded yet.
      if (task.lastUndo === undefined) continue
      // While it still works, a listed file may be gone when it is read.
      const files = () => filesOf(id).catch(() => ({}))
      await eventually('the files are restored', async () => isDeepStrictEqual(await files(), after[0]))
      await ada.ask(undoTurn, { params, body: { executionId: task.lastUndo.id } })
      const many = async () => Object.keys(await files()).filter((path) => path.startsWith('many/')).length
      await eventually('the undo is undone', async () => (await many()) === 1_000)
    }
    await ada.ask(sendMessage, { params, body: { message: 'What do you remember?' } })
    expect((await endOf(id, 3)).status).toBe('completed')
  })
})
