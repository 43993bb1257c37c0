/** What was deleted is gone from shared engines too: searched for in every document of MongoDB, in NATS's files, and in each process's folder. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deleteAccount } from '#domain/api/auth.schema.ts'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { deleteProject, listProjects } from '#domain/api/projects.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { createPullRequest, deleteTask, executeTask } from '#domain/api/tasks.schema.ts'
import { forMongo } from '../../servers/sharedEngines.ts'
import type { ServiceApart } from '../../product/servicesApart.ts'
import { addressOf, onboard, type Person } from '../../product/person.ts'
import { openApartScene, type ApartScene } from '../../server/apartScene.ts'
import { eventually } from '../../server/engines.ts'
import { branchesAtHost } from '../../server/pushing.ts'
import { hasEnded } from '../../server/scene.ts'
import { search, type Found } from '../../hostile/dataFolder.ts'

const mongo = await forMongo()
const fresh = () => `quokka${randomBytes(6).toString('hex')}`

describe.skipIf('missing' in mongo)('finding 10: on shared engines', () => {
  let scene: ApartScene
  let client: MongoClient
  /** Where the code host finds git, and what holds it. */
  let bin: string
  beforeAll(async () => {
    if ('missing' in mongo) return
    const turns = [
      {
        tools: [
          { name: 'Bash', input: { command: 'cat /workspace/.words >> README.md', description: 'Write' } },
        ],
      },
      { text: 'It is written.' },
    ]
    bin = await mkdtemp(join(tmpdir(), 'flightdeck-slow-host-'))
    await slowHost(bin)
    const envOf = (service: ServiceApart): Readonly<Record<string, string>> =>
      service === 'codehost' ? { PATH: `${bin}:${process.env['PATH']}` } : {}
    scene = await openApartScene(mongo.server, [{ when: /quokka/, turns }], {}, { envOf })
    client = await MongoClient.connect(scene.engines.env.MONGODB_URL)
  })
  afterAll(async () => {
    await client?.close()
    await rm(join(bin, 'hold'), { force: true })
    await scene?.close()
    await rm(bin, { recursive: true, force: true })
  })

  /** Every document of every collection, as text: blobs are in their chunks. */
  async function inMongo(word: string): Promise<readonly Found[]> {
    const database = client.db()
    const found: Found[] = []
    for (const { name } of await database.listCollections({}, { nameOnly: true }).toArray()) {
      for await (const document of database.collection(name).find({}, { promoteBuffers: true })) {
        if (textOf(document).includes(word)) found.push({ word, file: `MongoDB ${name}` })
      }
    }
    return found
  }

  async function found(word: string): Promise<readonly Found[]> {
    const { product, engines } = scene
    const folders = (['command', 'query', 'gateway', 'runner'] as const).map((service) =>
      product.folderOf(service, 0),
    )
    const places = await Promise.all(
      [...folders, engines.nats.folder].map((folder) => search(folder, [word])),
    )
    return [...places.flat(), ...(await inMongo(word))]
  }

  async function untilNothingIsFound(word: string) {
    for (const end = Date.now() + 60_000; ;) {
      const left = await found(word)
      if (left.length === 0 || Date.now() > end) return left
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }

  async function taskWith(word: string): Promise<string> {
    const { ada, projectId } = scene
    const { id } = await ada.task(projectId, `${word} is to be done`)
    const params = { taskId: id }
    await ada.taskOnce(id, hasEnded)
    const command = `echo ${word} > ${word}.txt; git add -A; git commit -qm ${word}; echo ${word}`
    await ada.ask(executeTask, { params, body: { command } })
    await ada.ask(sendMessage, { params, body: { message: `And mind ${word}` } })
    await ada.taskOnce(id, (now) => (now.execution?.turn ?? 0) >= 3 && hasEnded(now))
    return id
  }

  // Holds findings 1.36.
  test('a deleted task leaves no word', async () => {
    const word = fresh()
    const taskId = await taskWith(word)
    const before = (await found(word)).map(({ file }) => file)
    // The search finds what there is.
    expect(before).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^MongoDB docs_messages/),
        expect.stringMatching(/^MongoDB docs_tasks/),
        expect.stringContaining(`runner/tasks/${taskId}/tree`),
      ]),
    )
    await scene.ada.ask(deleteTask, { params: { taskId } })
    expect(await untilNothingIsFound(word)).toEqual([])
  })

  test('nor does a deleted project, nor a deleted account', async () => {
    const { ada, product, projectId } = scene
    const word = fresh()
    const params = { projectId }
    await ada.ask(updateProjectSettings, { params, body: { variables: [{ name: 'GREETING', value: word }] } })
    await taskWith(word)
    await ada.ask(deleteProject, { params })
    expect(await untilNothingIsFound(word)).toEqual([])

    const grace = await product.signIn('grace', { onboarding: 'left' })
    const name = fresh()
    await onboard(grace, name)
    expect((await found(name)).length).toBeGreaterThan(0)
    await grace.ask(deleteAccount)
    expect(await untilNothingIsFound(name)).toEqual([])
  })

  // Holds findings 1.35.
  test.each([
    ['project', (person: Person, projectId: string) => person.ask(deleteProject, { params: { projectId } })],
    ['account', (person: Person) => person.ask(deleteAccount)],
  ] as const)('a branch that arrives while its %s is being deleted goes as well', async (_, remove) => {
    const { product } = scene
    const hostData = join(product.folderOf('codehost', 0), 'data')
    const word = fresh()
    const person = await product.signIn('ada')
    const [own] = (await person.ask(listProjects)).projects
    const projectId = own?.id ?? (await person.project('engine'))
    const { id: taskId } = await person.task(projectId, `${word} is to be done`)
    await person.taskOnce(taskId, hasEnded)
    const params = { taskId }
    await person.ask(executeTask, { params, body: { command: 'echo more >> README.md' } })
    const { workingBranch } = await person.taskOnce(
      taskId,
      (now) => (now.execution?.turn ?? 0) >= 2 && hasEnded(now),
    )
    await writeFile(join(bin, 'hold'), '')
    const asked = person.api('POST', addressOf(createPullRequest, params), {}).catch(() => undefined)
    const isThere = (name: string) => existsSync(join(bin, name))
    await eventually('the host has the push', () => isThere('held'))

    await remove(person, projectId)
    const isShown = async () => (await inMongo(word)).some(({ file }) => file.includes('docs_tasks'))
    await eventually('the task is deleted', async () => !(await isShown()))
    await rm(join(bin, 'hold'))
    await eventually('the branch arrives', () => isThere('arrived'))
    await expect.poll(() => branchesAtHost(hostData)).not.toContain(workingBranch)
    await asked
    for (const name of ['held', 'arrived']) await rm(join(bin, name))
  })
})

/** A git for the code host that takes a push, and finishes it once `hold` is gone, whether or not anybody waits for the answer. */
async function slowHost(folder: string): Promise<void> {
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const script = `#!/bin/sh
case "$PATH_INFO" in
*/git-receive-pack) ;;
*) exec ${git} "$@" ;;
esac
[ -e ${folder}/hold ] || exec ${git} "$@"
body=$(mktemp ${folder}/body.XXXXXX)
cat > "$body"
touch ${folder}/held
setsid -w sh -c 'while [ -e ${folder}/hold ]; do sleep 0.05; done
${git} "$@" < "$0" > "$0.answer" && touch ${folder}/arrived
cat "$0.answer"' "$body" "$@"
`
  await writeFile(join(folder, 'git'), script, { mode: 0o755 })
}

function textOf(document: unknown): string {
  return JSON.stringify(document, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  )
}
