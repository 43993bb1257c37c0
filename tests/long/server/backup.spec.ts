/** A backup of a running product, kill -9 at each step of making and of restoring a backup, and the product with the restored data. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getChat, getTerminal } from '#domain/api/chat.schema.ts'
import { createPullRequest, executeTask, getTask, getTaskDiff, listTasks } from '#domain/api/tasks.schema.ts'
import { lockFile } from '#platform/engines/sqlite.ts'
import { note } from '../../report/notes.ts'
import { ownFolder, runProduct, startProduct } from '../../product.ts'
import { serverEntry } from '../../product/server.ts'
import { changeSomething } from '../../server/apartScene.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

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

const preload = fileURLToPath(new URL('../../server/faults/killFiles.js', import.meta.url))
const pausing = fileURLToPath(new URL('../../server/faults/pauseAtLock.js', import.meta.url))

/** Runs it, killed right after its n-th change of a file; 0: not at all. The answer is whether it was, and what it changed by then. */
async function killedAt(n: number, args: readonly string[]) {
  const list = at('changes')
  await writeFile(list, '')
  const child = spawn(process.execPath, ['--import', preload, serverEntry, ...args], {
    env: { ...env, KILL_FILES_AT: String(n), KILL_FILES_LIST: list },
    cwd: tmpdir(),
    stdio: 'ignore',
  })
  const [, signal] = await once(child, 'close')
  return { wasKilled: signal === 'SIGKILL', changes: (await readFile(list, 'utf8')).trimEnd().split('\n') }
}

/** Files of a tree are copied one like the other: of these steps every twentieth is enough, and all others. */
function pointsOf(changes: readonly string[]): readonly number[] {
  const isAlike = (change: string | undefined) => /^(copyFile|chmod|mkdir) /.test(change ?? '')
  return changes.flatMap((change, index) =>
    isAlike(change) && isAlike(changes[index + 1]) && index % 20 !== 0 ? [] : [index + 1],
  )
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
    expect((await again.personWith(ada.token).api('GET', '/tasks')).status).toBe(401)
    const person = await again.signIn('ada')
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

test('wherever a backup is killed, there is a whole one or none, and the next try makes one', async () => {
  const args = ['backup', at('killed'), '--with-key', '--data', scene.product.dataDir]
  const whole = await killedAt(0, args)
  expect(whole.wasKilled).toBe(false)
  await rm(at('killed'), { recursive: true })
  const points = pointsOf(whole.changes)
  const made = { whole: 0, none: 0 }
  for (const point of points) {
    expect(await killedAt(point, args)).toMatchObject({ wasKilled: true })
    const isWhole = existsSync(at('killed'))
    made[isWhole ? 'whole' : 'none'] += 1
    const restored = isWhole
      ? await runProduct(env, ['restore', at('killed'), '--data', at('of-killed')])
      : null
    expect(restored?.code ?? 0).toBe(0)
    for (const name of ['killed', 'of-killed']) await rm(at(name), { recursive: true, force: true })
  }
  expect(await killedAt(0, args)).toMatchObject({ wasKilled: false })
  expect((await runProduct(env, ['restore', at('killed'), '--data', at('of-killed')])).code).toBe(0)
  expect(made.whole).toBeGreaterThan(0)
  expect(made.none).toBeGreaterThan(0)
  expect(await leftOver()).toEqual([])
  note(
    'kill -9 at each step of a backup',
    `${points.length} kills: ${made.none} left none, ${made.whole} a whole one`,
  )
})

test('wherever a restore is killed, there is a whole folder or none, no key is lost, and the next try makes one', async () => {
  const key = await readFile(join(scene.product.dataDir, 'master.key'), 'utf8')
  expect((await runProduct(env, ['backup', at('keyless'), '--data', scene.product.dataDir])).code).toBe(0)
  const args = ['restore', at('keyless'), '--data', at('half')]
  const withKey = async () => {
    await rm(at('half'), { recursive: true, force: true })
    await mkdir(at('half'))
    await writeFile(join(at('half'), 'master.key'), key, { mode: 0o600 })
  }
  await withKey()
  const points = pointsOf((await killedAt(0, args)).changes)
  const made = { whole: 0, none: 0 }
  for (const point of points) {
    await withKey()
    expect(await killedAt(point, args)).toMatchObject({ wasKilled: true })
    const isWhole = existsSync(join(at('half'), 'events.sqlite'))
    made[isWhole ? 'whole' : 'none'] += 1
    // The key that was there is found again, wherever the kill left it.
    const next = isWhole ? null : await runProduct(env, args)
    expect(next ?? { code: 0, stderr: '' }).toMatchObject({ code: 0, stderr: '' })
    expect((await runProduct(env, ['verify', '--data', at('half')])).code).toBe(0)
    expect(await readFile(join(at('half'), 'master.key'), 'utf8')).toBe(key)
  }
  expect(made.whole).toBeGreaterThan(0)
  expect(made.none).toBeGreaterThan(0)
  note(
    'kill -9 at each step of a restore',
    `${points.length} kills: ${made.none} left none, ${made.whole} a whole one`,
  )
})

test('a restore that opened the lock file just before it was removed does not work beside another', async () => {
  const made = await runProduct(env, ['backup', at('raced'), '--with-key', '--data', scene.product.dataDir])
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const lock = at('.new-raced.flightdeck-lock')
  const go = at('go')
  const endFirst = lockFile(lock)
  const second = spawn(
    process.execPath,
    ['--import', pausing, serverEntry, 'restore', at('raced'), '--data', at('new-raced')],
    { env: { ...env, PAUSE_AT_LOCK: go }, cwd: tmpdir(), stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let said = ''
  second.stderr.on('data', (text: Buffer) => (said += text.toString()))
  const ended = once(second, 'close')
  await expect.poll(() => existsSync(`${go}.opened`)).toBe(true)
  // As a restore ends: the file goes while its lock is held.
  await rm(lock)
  endFirst?.()
  const endThird = lockFile(lock)
  await writeFile(go, '')
  expect(await ended).toEqual([1, null])
  expect(said).toBe(`A restore to ${at('new-raced')} is under way.\n`)
  expect([endFirst, endThird]).toEqual([expect.any(Function), expect.any(Function)])
  await rm(lock)
  endThird?.()
})

/** What a backup or a restore leaves beside its target while it is under way. */
async function leftOver(): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => /flightdeck/.test(name))
}
