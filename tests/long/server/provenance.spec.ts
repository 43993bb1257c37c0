/** The origin of lines, in the whole product: the real CLI, the runner, git and the local code host, and a person who pushes in between. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { getProvenance } from '#domain/api/provenance.schema.ts'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import { agentTraceRef, TraceRecord } from '#domain/provenance/agentTrace.ts'
import { git, gitDone } from '../../contracts/codeHost.fixture.ts'
import { bareRepository, pushElsewhere } from '../../server/pushing.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const rows = (changed: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: 30 }, (_, index) => `${changed[index + 1] ?? `row ${index + 1}`}\n`).join('')
const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })
const write = (path: string, content: string) => ({
  name: 'Write',
  input: { file_path: `/workspace/${path}`, content },
})
const edit = (path: string, before: string, after: string) => ({
  name: 'Edit',
  input: { file_path: `/workspace/${path}`, old_string: before, new_string: after },
})

let scene: Scene
let taskId = ''
let branch = ''
beforeAll(async () => {
  scene = await openScene(
    [
      {
        when: /Write rows/,
        turns: [
          {
            tools: [
              write('w.txt', rows()),
              write('f.txt', 'kept\nmore\n'),
              write('h.txt', 'one\ntwo\nthree\n'),
            ],
          },
          { tools: [bash('mv h.txt i.txt; sed -i s/two/second/ i.txt; echo Goodbye. >> README.md')] },
          { text: 'Written.' },
        ],
      },
      {
        when: /Change rows/,
        turns: [
          { tools: [edit('w.txt', 'row 10\n', 'ten\n')] },
          { tools: [edit('w.txt', 'row 25\n', 'twenty-five\n')] },
          { text: 'Changed.' },
        ],
      },
      {
        when: /Rename/,
        turns: [{ tools: [bash('mv f.txt g.txt')] }, { text: 'Renamed.' }],
      },
    ],
    { env: { ORIGIN_NOTES: '1' } },
  )
  const task = await scene.ada.task(scene.projectId, 'Write rows')
  taskId = task.id
  branch = (await scene.ada.taskOnce(taskId, hasEnded)).workingBranch ?? ''
})
afterAll(() => scene?.close())

const params = () => ({ taskId })
const says = async (message: string, turn: number) => {
  await scene.ada.ask(sendMessage, { params: params(), body: { message } })
  await scene.ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === turn)
}
/** As `from-to turn (call)`. */
const told = async (path: string): Promise<readonly string[]> => {
  const { ranges, turns } = await scene.ada.ask(getProvenance, { params: params(), query: { path } })
  return ranges.map(({ from, to, executionId, callId }) => {
    const turn = turns.find((one) => one.executionId === executionId)
    const call = turn?.calls.find(({ id }) => id === callId)
    const lines = from === to ? `${from}` : `${from}-${to}`
    return turn === undefined ? `${lines} unknown` : `${lines} ${turn.number} (${call?.name ?? 'no call'})`
  })
}

test('recorder M8: a file that is written and renamed in one turn keeps its call, and what sed changed is of Bash', async () => {
  expect(await told('w.txt')).toEqual(['1-30 1 (Write)'])
  expect(await told('i.txt')).toEqual(['1 1 (Write)', '2 1 (Bash)', '3 1 (Write)'])
  expect(await told('README.md')).toEqual(['1-3 unknown', '4 1 (Bash)'])
})

// Holds findings 1.95.
test('recorder H6: after a person’s push, an update and one more turn only the person’s line is unknown', async () => {
  const { ada, product } = scene
  await ada.ask(createPullRequest, { params: params() })
  const clone = `${scene.repository}-elsewhere`
  await pushElsewhere({ dataDir: product.dataDir, clone, branch }, { 'w.txt': rows({ 3: 'by a person' }) })
  await says('Change rows', 2)
  const before = await ada.ask(getProvenance, { params: params(), query: { path: 'w.txt' } })
  expect(await told('w.txt')).toEqual([
    '1-9 1 (Write)',
    '10 2 (Edit)',
    '11-24 1 (Write)',
    '25 2 (Edit)',
    '26-30 1 (Write)',
  ])
  const calls = before.ranges.flatMap(({ callId, from }) => (from === 10 || from === 25 ? [callId] : []))
  expect(new Set(calls).size).toBe(2)

  await ada.ask(createPullRequest, { params: params() })
  const onlyTheirs = [
    '1-2 1 (Write)',
    '3 unknown',
    '4-9 1 (Write)',
    '10 2 (Edit)',
    '11-24 1 (Write)',
    '25 2 (Edit)',
    '26-30 1 (Write)',
  ]
  expect(await told('w.txt')).toEqual(onlyTheirs)
  await says('Rename', 3)
  expect(await told('w.txt')).toEqual(onlyTheirs)
  expect(await told('README.md')).toEqual(['1-3 unknown', '4 1 (Bash)'])
})

// Holds findings 1.100.
test('recorder M8: a file that a later turn renames keeps its turn and its call', async () => {
  expect(await told('g.txt')).toEqual(['1-2 1 (Write)'])
})

test('recorder H6: the notes beside the commits say the same, and the person’s commit has none', async () => {
  const bare = await bareRepository(scene.product.dataDir)
  const noteOf = async (commit: string) => {
    const sha = await gitDone(bare, ['rev-parse', commit])
    return git(bare, ['notes', `--ref=${agentTraceRef}`, 'show', sha])
  }
  const linesIn = async (commit: string) => {
    const { files } = TraceRecord.parse(JSON.parse((await noteOf(commit)).stdout))
    const file = files.find(({ path }) => path === 'w.txt')
    return file?.conversations.flatMap(({ ranges, contributor }) =>
      ranges.map(({ start_line, end_line }) => `${start_line}-${end_line} ${contributor?.type}`),
    )
  }
  expect(await linesIn(branch)).toEqual(['10-10 ai', '25-25 ai'])
  expect(await linesIn(`${branch}~2`)).toEqual(['1-30 ai'])
  expect((await noteOf(`${branch}~1`)).code).not.toBe(0)
})
