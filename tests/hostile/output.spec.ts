/** Output of a run that could stop the server: output that is slow to redact, and more output than anybody should store. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { setProjectSecret } from '#domain/api/projectSettings.schema.ts'
import { executeTask } from '#domain/api/tasks.schema.ts'
import { hasEnded, openScene, type Scene } from '../server/scene.ts'

/** The longest allowed value, as often as is allowed. */
const longest = 'a'.repeat(8_192)
const secrets = [longest, ...Array.from({ length: 15 }, (_, at) => `${'a'.repeat(8_190)}${at + 10}`)]

let scene: Scene
let taskId = ''
let turn = 1

beforeAll(async () => {
  scene = await openScene([{ when: /Begin/, turns: [{ text: 'Begun.' }] }], { env: { RUN_OUTPUT_MB: '1' } })
  for (const [at, value] of secrets.entries()) await set(`SECRET_${at}`, value)
  taskId = (await scene.ada.task(scene.projectId, 'Begin')).id
  await scene.ada.taskOnce(taskId, hasEnded)
})
afterAll(() => scene?.close())

const set = (name: string, value: string) =>
  scene.ada.ask(setProjectSecret, { params: { projectId: scene.projectId, name }, body: { value } })

/** Asks the server for its health, over and over, until the command has ended; an answer that does not come is a fault. */
async function healthyWhile(command: string): Promise<string> {
  const before = await terminal()
  await scene.ada.ask(executeTask, { params: { taskId }, body: { command } })
  turn += 1
  const run = { isOver: false }
  const over = scene.ada
    .taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === turn)
    .finally(() => (run.isOver = true))
  // It is awaited below, and may be given up before.
  over.catch(() => undefined)
  let answers = 0
  while (!run.isOver) {
    const answer = await fetch(`${scene.product.base}/healthz`, { signal: AbortSignal.timeout(10_000) })
    expect(answer.status).toBe(200)
    answers += 1
  }
  await over
  expect(answers).toBeGreaterThan(0)
  return (await terminal()).slice(before.length)
}

async function terminal(): Promise<string> {
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId }, query: { limit: '5000' } })
  return output.map(({ content }) => content).join('')
}

describe('output that is slow to redact', () => {
  // Holds findings 1.8.
  test('finding 3: beginnings of tokens without an end hold up nobody', async () => {
    const shown = await healthyWhile('yes eyJ | tr -d "\\n" | head -c 2000000; echo; echo the end')
    expect(shown).toContain('the end')
    expect(shown).toContain('eyJeyJeyJ')
  })

  // Holds findings 1.9.
  test('finding 3: the letter that sixteen of the longest secrets are made of holds up nobody, and they are hidden', async () => {
    const shown = await healthyWhile('head -c 300000 /dev/zero | tr "\\0" a; echo; echo the end')
    expect(shown).toContain('the end')
    expect(shown).toContain('[redacted]')
    expect(shown).not.toContain('aaaaaaaa')
  })

  test('finding 3: a secret that is longer, or one too many, is refused', async () => {
    const params = { projectId: scene.projectId, name: 'MORE' }
    const put = (value: string) =>
      scene.ada.api('PUT', `/projects/${params.projectId}/secrets/${params.name}`, { value })
    expect(await put('a'.repeat(8_193))).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', field: 'value', error: 'The value can have at most 8 KiB.' },
    })
    expect(await put('one byte too many')).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_input',
        field: 'value',
        error: 'All secrets of a project together can be at most 128 KiB.',
      },
    })
  })
})

describe('output without an end', () => {
  // Holds findings 1.15.
  test('finding 5: a run records its beginning and its end, tells the cut, and the log grows by no more than it may', async () => {
    const log = () => stat(join(scene.product.dataDir, 'events.sqlite')).then(({ size }) => size)
    const before = await log()
    const shown = await healthyWhile('echo the beginning; yes | head -c 4000000; echo the end')
    expect(shown).toContain('the beginning')
    expect(shown).toContain('This run has recorded as much as a run may, 1 MB. It goes on;')
    expect(shown).toMatch(/\[[\d.]+ MB that were printed are left out here\.\]/)
    expect(shown).toMatch(/the end\n/)
    expect(shown.length).toBeLessThan(1_000_000)
    // With what is beside the output in a file of SQLite.
    expect((await log()) - before).toBeLessThan(3_000_000)
  })
})
