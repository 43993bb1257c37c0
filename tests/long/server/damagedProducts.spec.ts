/** Whole products on copies of a real log, each with a damaged row: they start, and all undamaged tasks work. */
import { execFileSync } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepository } from '#domain/api/projects.schema.ts'
import { executeTask, getTask, getTaskDiff, updateTask, type Task } from '#domain/api/tasks.schema.ts'
import { logStream, sealStream, taskStream, terminalStream, userStream } from '#domain/kernel/streams.ts'
import { ownFolder, startProduct } from '../../product.ts'
import type { Person } from '../../product/person.ts'
import { damageFolder, type Damage } from '../../server/damagedLogs.ts'
import { operateOn, readyz } from '../../server/damaging.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'
import { within } from '../../product/live.ts'

const products = 60
const change = { name: 'Bash', input: { command: 'echo xyzzy >> README.md', description: 'Change' } }

interface Owner {
  readonly token: string
  readonly userId: string
  readonly tasks: readonly Task[]
}

let scene: Scene
let folder = ''
const owners: Owner[] = []
beforeAll(async () => {
  folder = await ownFolder()
  scene = await openScene([{ turns: [{ text: 'I change it.', tools: [change] }, { text: 'Changed.' }] }], {
    env: { ALLOWED_USERS: '*' },
  })
  const { ada, product, projectId } = scene
  const grace = await product.signIn('grace')
  await grace.ask(createRepository, { body: { name: 'own', description: '', private: false } })
  for (const [person, project] of [
    [ada, projectId],
    [grace, await grace.project('own')],
  ] as const) {
    const tasks = [
      await person.task(project, 'Change the one'),
      await person.task(project, 'Change the other'),
    ]
    for (const { id } of tasks) await person.taskOnce(id, hasEnded, 120_000)
    const { body } = await person.api('GET', '/auth/me')
    owners.push({ token: person.token, userId: userIdIn(body), tasks })
  }
  await product.terminate()
}, 300_000)
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

function userIdIn(body: unknown): string {
  const found = /"id":"([0-9a-f-]{36})"/.exec(JSON.stringify(body))?.[1]
  if (found === undefined) throw new Error('Nobody is signed in.')
  return found
}

// Holds findings 1.83.
test(
  'recorder C1, C2: with any damage to any row of a real log, 60 products start and serve all that is undamaged',
  { timeout: 7_200_000 },
  async () => {
    const first = Date.now() % 1_000_000
    const faults: string[] = []
    for (let seed = first; seed < first + products; seed += 1) {
      const dataDir = join(folder, String(seed))
      await mkdir(dataDir)
      // With the owners of the workspaces.
      execFileSync('cp', ['-a', `${scene.product.dataDir}/.`, dataDir])
      const done = await damageFolder(dataDir, seed)
      const found = await served(dataDir, done).catch((fault: unknown) => [String(fault)])
      faults.push(...found.map((fault) => `seed ${seed}: ${done.damage}: ${fault}`))
      await rm(dataDir, { recursive: true, force: true })
    }
    expect(faults).toEqual([])
  },
)

/** What does not work on the folder, in sentences. */
async function served(dataDir: string, done: Damage): Promise<readonly string[]> {
  const found: string[] = []
  const product = await startProduct({
    dataDir,
    model: { messagesApi: scene.api },
    env: { ALLOWED_USERS: '*' },
  })
  try {
    for (const { token, userId, tasks } of owners) {
      // Whoever is damaged, or whose account at the code host is, may be kept out.
      if (done.hurt.has(userStream(userId)) || done.kind === 'identity') continue
      const person = product.personWith(token)
      const left = tasks.filter(
        ({ id }) => ![taskStream(id), terminalStream(id)].some((at) => done.hurt.has(at)),
      )
      for (const { id } of left) await used(person, id, done, found)
    }
    const { status, text } = await readyz(product)
    if (status !== 200) found.push(`it is not ready: ${text}`)
  } finally {
    await product.stop()
  }
  if (done.column === 'position') return found
  const { code, stdout, stderr } = await operateOn({ dataDir }, 'verify')
  // A name may have become one that moves the cursor: it is printed without that.
  const isNamed = (stream: string) => stdout.includes(stream.replaceAll(/\p{Cc}/gu, '\uFFFD'))
  if (code !== 1 || ![...done.hurt].some(isNamed))
    found.push(`verify ends with ${code} and does not name it: ${stdout}${stderr}`)
  return found
}

async function used(person: Person, id: string, done: Damage, found: string[]): Promise<void> {
  const params = { taskId: id }
  const title = `after ${id}`
  await person.taskOnce(id, () => true)
  await person.ask(updateTask, { params, body: { title } })
  if ((await person.ask(getTask, { params })).task.title !== title) found.push(`${id} was not written`)
  if ((await person.ask(getTaskDiff, { params })).data.changedFiles.length === 0)
    found.push(`${id} has no diff`)
  const { status, text } = await person.api('GET', `/tasks/${id}/history`)
  if (status !== 200) found.push(`the history of ${id}: ${text}`)
  const audit = await person.api('GET', `/tasks/${id}/audit`)
  const mayRefuse =
    done.hurt.has(logStream) ||
    done.hurt.has(sealStream(1)) ||
    done.column === 'meta' ||
    done.column === 'position'
  if (audit.status !== 200 && !(mayRefuse && audit.status === 503))
    found.push(`the bundle of ${id}: ${audit.text}`)
  // A project that is damaged cannot be cloned or pushed to; its tasks can still be read.
  if (done.kind === 'project' || done.kind === 'usage') return
  await person.ask(executeTask, { params, body: { command: 'true' } })
  await within(
    60_000,
    `The command of ${id} does not end`,
    person.taskOnce(id, (now) => hasEnded(now) && now.execution?.turn === 2),
  )
}
