/** Over any number of reconnects a viewer misses nothing and sees nothing twice. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TerminalOutput } from '#domain/api/chat.ts'
import { getTerminal } from '#domain/api/chat.ts'
import { executeTask } from '#domain/api/tasks.ts'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import { connectLive, type Live } from '../product/live.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

let scene: Scene
let taskId = ''
beforeAll(async () => {
  scene = await openScene([])
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

/** The last position of anything that was heard of the task. */
const lastOf = ({ heard }: Live): Position | undefined =>
  heard
    .filter(({ name }) => name !== 'global_task_status_changed')
    .flatMap(({ payload }) => ('position' in payload ? [payload.position] : []))
    .at(-1)

const isOver = ({ name }: Live['heard'][number]) => name === 'command_completed'

/** A random number that a failing run can be done again with. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

test('with fifty lost connections while output flows, every piece is heard once, in order', async () => {
  const seed = Date.now() % 100_000
  const random = randomFrom(seed)
  const steady = await watching(scene.ada, taskId)
  const before = await history()
  await run(counting(400, 8))

  const heard: TerminalOutput[] = []
  const ends: Position[] = []
  let last: Position | null = before.at(-1)?.position ?? null
  let connections = 0
  for (let over = false; !over;) {
    const live = await scene.ada.socket()
    const joined = await live.join(taskId, last)
    expect(joined).toMatchObject({ joined: true, resync: false })
    connections += 1
    if (connections <= 50) await pause(random() * 150)
    else await live.until('the end', isOver, 30_000)
    over = live.heard.some(isOver)
    live.close()
    heard.push(...live.of('terminal_output'))
    ends.push(...live.of('command_completed').map(({ position }) => position))
    last = lastOf(live) ?? last
  }
  await steady.until('the end', isOver, 30_000)
  steady.close()

  const printed = (await history()).slice(before.length)
  expect(heard, `seed ${seed}`).toEqual(printed)
  expect(heard).toEqual(steady.of('terminal_output'))
  expect(ends).toHaveLength(1)
  expect(connections).toBeGreaterThan(30)
  const text = heard.map(({ content }) => content).join('')
  expect(text.match(/^line \d+$/gm)).toEqual(Array.from({ length: 400 }, (_, n) => `line ${n + 1}`))
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
    expect([...read, ...live.of('terminal_output')]).toEqual([...before, ...first.of('terminal_output')])
    live.close()
  }
  first.close()
})

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
  expect(polling.heard.map(({ name }) => name)).toEqual(socket.heard.map(({ name }) => name))
  expect(polling.of('terminal_output')).toEqual(socket.of('terminal_output'))
  polling.close()
  socket.close()
})

test('who missed more than can be told again is sent to the history', { timeout: 120_000 }, async () => {
  const before = (await history()).at(-1)?.position ?? null
  // More than a thousand pieces of 16 KiB.
  await run('head -c 17500000 /dev/zero | tr "\\0" "x" | fold -w 200')
  await scene.ada.taskOnce(taskId, hasEnded, 90_000)
  const live = await scene.ada.socket()
  expect(await live.join(taskId, before)).toMatchObject({ joined: true, resync: true })
  expect(live.heard).toEqual([])
  await run('echo after')
  await live.until(
    'what comes now',
    ({ name, payload }) => name === 'terminal_output' && payload.content.includes('after'),
  )
  live.close()
})
