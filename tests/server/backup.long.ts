/** A backup of a product that serves, kill -9 in the middle of making and of restoring one, and the product on what was restored. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getChat, getTerminal } from '#domain/api/chat.ts'
import { createPullRequest, executeTask, getTask, getTaskDiff, listTasks } from '#domain/api/tasks.ts'
import { note } from '../report/notes.ts'
import { ownFolder, runProduct, startProduct } from '../product.ts'
import { serverEntry } from '../product/server.ts'
import { changeSomething } from './apartScene.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

let scene: Scene
let folder = ''
beforeAll(async () => {
  folder = await ownFolder()
  scene = await openScene([changeSomething])
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

const at = (name: string) => join(folder, name)
const env = { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'error' }

/** Runs it and kills it after so long; the answer is whether it was killed before its end. */
function killedAfter(ms: number, args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [serverEntry, ...args], { env, cwd: tmpdir(), stdio: 'ignore' })
  const timer = setTimeout(() => child.kill('SIGKILL'), ms)
  return new Promise((resolve) => {
    child.once('close', (_code, signal) => {
      clearTimeout(timer)
      resolve(signal === 'SIGKILL')
    })
  })
}

async function shownBy(person: Scene['ada']) {
  const { tasks } = await person.ask(listTasks)
  return Promise.all(
    tasks.map(async ({ id }) => {
      const params = { taskId: id }
      const { task } = await person.ask(getTask, { params })
      const { messages } = await person.ask(getChat, { params })
      const { output } = await person.ask(getTerminal, { params })
      const { data } = await person.ask(getTaskDiff, { params })
      return { id, status: task.status, title: task.title, messages, output, files: data.changedFiles }
    }),
  )
}

test('a product that is restored from what was copied while it served has all that was there before, and works', async () => {
  const { ada, projectId, product } = scene
  const done = await ada.task(projectId, 'Change something')
  await ada.taskOnce(done.id, hasEnded)
  const before = await shownBy(ada)
  const running = await ada.task(projectId, 'Change something again')
  await ada.taskOnce(running.id, hasEnded)
  await ada.ask(executeTask, {
    params: { taskId: running.id },
    body: { command: 'for n in $(seq 1 3000); do echo $n; done; sleep 600' },
  })
  const made = await runProduct(env, ['backup', at('copy'), '--with-key', '--data', product.dataDir])
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(made.stdout).toMatch(/and whole: \d+ events/)
  // What served goes on.
  expect((await ada.ask(getTask, { params: { taskId: running.id } })).task.status).toBe('running')

  const restored = await runProduct(env, ['restore', at('copy'), '--data', at('new')])
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect((await runProduct(env, ['verify', '--data', at('new')])).stdout).toMatch(/The log is whole/)
  const again = await startProduct({ dataDir: at('new'), model: { messagesApi: scene.api } })
  try {
    const person = again.personWith(ada.token)
    // What ran when the copy was made ended with it, or is begun again.
    await person.taskOnce(running.id, hasEnded, 90_000)
    const after = await shownBy(person)
    expect(after.filter(({ id }) => id === done.id)).toEqual(before)
    // Its workspace was left out: what the turn had saved is brought back.
    const { task } = await person.ask(executeTask, {
      params: { taskId: done.id },
      body: { command: 'cat README.md' },
    })
    expect(task.id).toBe(done.id)
    await person.taskOnce(done.id, hasEnded)
    const { pr } = await person.ask(createPullRequest, { params: { taskId: done.id } })
    expect(pr.number).toBe(1)
  } finally {
    await again.stop()
  }
})

test('wherever a backup or a restore is killed, there is a whole one or none', async () => {
  const { product } = scene
  let killed = 0
  let whole = 0
  for (let ms = 40; ms <= 2_400; ms += 40) {
    if (await killedAfter(ms, ['backup', at('killed'), '--with-key', '--data', product.dataDir])) killed += 1
    if (!existsSync(at('killed'))) continue
    whole += 1
    expect(JSON.parse(await readFile(join(at('killed'), 'manifest.json'), 'utf8'))).toMatchObject({
      format: 1,
    })
    await rm(at('killed'), { recursive: true })
  }
  for (let ms = 40; ms <= 2_400; ms += 40) {
    if (await killedAfter(ms, ['restore', at('copy'), '--data', at('half')])) killed += 1
    if (!existsSync(at('half'))) continue
    whole += 1
    expect((await runProduct(env, ['verify', '--data', at('half')])).code).toBe(0)
    await rm(at('half'), { recursive: true })
  }
  const made = await runProduct(env, ['backup', at('killed'), '--data', product.dataDir])
  expect(made.code).toBe(0)
  expect((await runProduct(env, ['restore', at('copy'), '--data', at('half')])).code).toBe(0)
  expect((await readdir(folder)).filter((name) => /flightdeck/.test(name))).toEqual([])
  expect(killed).toBeGreaterThan(20)
  note('backup and restore killed by SIGKILL', `${killed} kills, ${whole} that were whole by then`)
})
