/** Over any number of reconnects a viewer misses nothing and sees nothing twice. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { getTerminal, TerminalOutput } from '#domain/api/chat.schema.ts'
import { executeTask } from '#domain/api/tasks.schema.ts'
import { comparePositions } from '#domain/kernel/event.ts'
import { connectLive, type Live } from '../product/live.ts'
import { endlessTurn, holdThroughReconnects } from './reconnecting.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

const turn = endlessTurn()
let scene: Scene
let taskId = ''
beforeAll(async () => {
  scene = await openScene([turn.script])
  const task = await scene.ada.task(scene.projectId, 'Be ready')
  taskId = task.id
  await scene.ada.taskOnce(taskId, hasEnded)
})
afterAll(() => scene?.close())

const pause = (ms: number) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })

/** Prints numbered lines for about `seconds`. */
const counting = (lines: number, seconds: number) =>
  `for i in $(seq 1 ${lines}); do echo "line $i"; sleep ${(seconds / lines).toFixed(4)}; done`

async function run(command: string): Promise<void> {
  await scene.ada.ask(executeTask, { params: { taskId }, body: { command } })
}
const history = async (): Promise<readonly TerminalOutput[]> =>
  (await scene.ada.ask(getTerminal, { params: { taskId }, query: { limit: '5000' } })).output

/** Output as the history has it: on the socket it also names the command that it came of. */
const heardBy = (live: Live): readonly TerminalOutput[] =>
  live.of('terminal_output').map((output) => TerminalOutput.parse(output))

const isOver = ({ name }: Live['heard'][number]) => name === 'command_completed'

test('with fifty lost connections, three viewers each hear and see everything, once, in order', async () => {
  const held = await holdThroughReconnects({ scene, turn, reconnects: 50 })
  await scene.product.restart()
  expect(held.reconnects).toBeGreaterThanOrEqual(50)
})

test('a tab that comes late sees the same as one that was there from the start', async () => {
  const first = await watching(scene.ada, taskId)
  const before = await history()
  await run(counting(60, 2))
  const late = await Promise.all(
    [200, 700, 1_200].map(async (ms) => {
      await pause(ms)
      const live = await scene.ada.socket()
      const joined = await live.join(taskId)
      const position = joined.joined ? joined.position : null
      const read = (await history()).filter(
        (item) => position !== null && comparePositions(item.position, position) <= 0,
      )
      return { live, read }
    }),
  )
  await first.until('the end', isOver)
  for (const { live, read } of late) {
    await live.until('the end', isOver)
    expect([...read, ...heardBy(live)]).toEqual([...before, ...heardBy(first)])
    live.close()
  }
  first.close()
})

// Holds contract 7.37.
test('who leaves a room hears nothing more of it, also when it leaves while it joins', async () => {
  const [left, hasty, stays] = await Promise.all([1, 2, 3].map(() => scene.ada.socket()))
  if (!left || !hasty || !stays) throw new Error('Three sockets were opened.')
  await Promise.all([left.join(taskId), stays.join(taskId)])
  left.leave(taskId)
  const joining = hasty.join(taskId)
  hasty.leave(taskId)
  expect(await joining).toMatchObject({ joined: true })
  await run('echo said')
  await stays.until('the end', isOver)
  for (const gone of [left, hasty]) {
    expect(gone.of('terminal_output')).toEqual([])
    expect(gone.of('task_status_changed')).toEqual([])
    // Of their tasks people are told everywhere.
    expect(gone.of('global_task_status_changed').map(({ status }) => status)).toContain('running')
    gone.close()
  }
  stays.close()
})

test('a browser that cannot open a websocket listens by polling', async () => {
  const polling = await connectLive(scene.product.base, scene.ada.token, 'polling')
  const socket = await watching(scene.ada, taskId)
  expect(await polling.join(taskId)).toMatchObject({ joined: true })
  await run('echo heard')
  for (const live of [polling, socket]) await live.until('the end', isOver)
  // The task's status follows, and reaches them at different times.
  await vi.waitFor(() =>
    expect(polling.heard.map(({ name }) => name)).toEqual(socket.heard.map(({ name }) => name)),
  )
  expect(polling.of('terminal_output')).toEqual(socket.of('terminal_output'))
  polling.close()
  socket.close()
})
