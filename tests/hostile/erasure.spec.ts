/** What was deleted is gone: searched for, byte by byte, in the whole data folder. */
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { completeOnboarding, deleteAccount, getMe, updateProfile } from '#domain/api/auth.schema.ts'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { uploadImage } from '#domain/api/images.schema.ts'
import { deleteProject, listProjects } from '#domain/api/projects.schema.ts'
import { setProjectSecret, updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { createPullRequest, createTask, deleteTask, executeTask } from '#domain/api/tasks.schema.ts'
import { patienceMs } from '../patience.ts'
import type { Person } from '../product/person.ts'
import { branchesAtHost, codeHostToken } from '../server/pushing.ts'
import { hasEnded, openScene, type Scene } from '../server/scene.ts'
import { search } from './dataFolder.ts'

/** Words of one marker: told apart by where a person put them. */
const wordsOf = (marker: string) => {
  const of = (where: string) => `${marker}${where}`
  return {
    title: of('title'),
    chat: of('chat'),
    file: of('file'),
    output: of('output'),
    imageName: of('image'),
    imageBytes: of('pixels'),
    variable: of('variable'),
    secret: of('secret'),
    name: of('name'),
    email: of('email'),
  }
}
type Words = ReturnType<typeof wordsOf>

const fresh = (): Words => wordsOf(`quokka${randomBytes(6).toString('hex')}`)

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    {
      when: /numbat/,
      turns: [
        { tools: [{ name: 'Bash', input: { command: 'echo numbat > numbat', description: 'Write' } }] },
        { text: 'It is written.' },
      ],
    },
    {
      when: /quokka/,
      turns: [
        {
          tools: [
            { name: 'Bash', input: { command: 'cat /workspace/.words >> README.md', description: 'Write' } },
          ],
        },
        { text: 'It is written.' },
      ],
    },
  ])
})
afterAll(() => scene?.close())

async function upload({ token }: Person, { imageName, imageBytes }: Words): Promise<string> {
  const form = new FormData()
  const image = sharp({ create: { width: 8, height: 8, channels: 3, background: '#123' } })
  const bytes = await image
    .png()
    .withExif({ IFD0: { Copyright: imageBytes } })
    .toBuffer()
  form.append('image', new Blob([new Uint8Array(bytes)], { type: 'image/png' }), `${imageName}.png`)
  const answer = await fetch(`${scene.product.base}/api${uploadImage.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  })
  return uploadImage.answer.parse(await answer.json()).id
}

/** A task with a word of the person's in every place there is: title, chat, image, output, a file and its diff. */
async function taskWith(person: Person, projectId: string, words: Words): Promise<string> {
  const { task } = await person.ask(createTask, {
    body: {
      projectId,
      description: `${words.title} is to be done`,
      branch: 'main',
      agent: 'claude',
      images: [await upload(person, words)],
    },
  })
  const params = { taskId: task.id }
  await person.taskOnce(task.id, hasEnded)
  const command = `echo ${words.file} > ${words.file}.txt; git add -A; git commit -qm ${words.file}; echo ${words.output}`
  await person.ask(executeTask, { params, body: { command } })
  await person.ask(sendMessage, { params, body: { message: `And mind ${words.chat}` } })
  // The command's run, then the message's: the queue is empty when the last message has been answered.
  await person.taskOnce(task.id, (now) => (now.execution?.turn ?? 0) >= 3 && hasEnded(now))
  return task.id
}

/** What is found of the words; asked again until nothing is, for erasing takes its time. */
async function untilNothingIsFound(words: readonly string[]) {
  for (const end = Date.now() + patienceMs; ;) {
    const found = await search(scene.product.dataDir, words)
    if (found.length === 0 || Date.now() > end) return found
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

// Holds findings 1.32.
test('finding 10: a blob that no event names goes once it is a day old, and what events name stays', async () => {
  const { ada, product, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Draw a numbat')
  await ada.taskOnce(taskId, hasEnded)
  const folder = join(product.dataDir, 'blobs')
  const blobs = async () =>
    (await readdir(folder, { recursive: true })).filter((path) => /[0-9a-f]{64}$/.test(path)).toSorted()
  const named = await blobs()
  expect(named).not.toEqual([])
  // What is left by a process that is killed between a blob and its event.
  const orphan = async () => {
    const bytes = randomBytes(100)
    const hash = createHash('sha256').update(bytes).digest('hex')
    const path = join(hash.slice(0, 2), hash.slice(2, 4), hash)
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), bytes)
    return path
  }
  const [old, fresh] = [await orphan(), await orphan()]
  const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000)
  for (const path of [...named, old]) await utimes(join(folder, path), twoDaysAgo, twoDaysAgo)
  await product.kill9()
  await product.restart()
  await expect.poll(blobs, { interval: 100 }).toEqual([...named, fresh].toSorted())
})

// Holds findings 1.29.
test('finding 10: a deleted task leaves no word in any file of the data folder', async () => {
  const { ada, product, projectId } = scene
  const words = fresh()
  const ofTask = [words.title, words.chat, words.file, words.output, words.imageName, words.imageBytes]
  const taskId = await taskWith(ada, projectId, words)
  const before = await search(product.dataDir, ofTask)
  // The search finds what there is: in the read models, and in the workspace.
  expect(new Set(before.map(({ word }) => word))).toContain(words.chat)
  expect(before.map(({ file }) => file)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^views\.sqlite/),
      expect.stringContaining(`runner/tasks/${taskId}/tree`),
      expect.stringMatching(/\.git \(objects\)$/),
    ]),
  )
  await ada.ask(deleteTask, { params: { taskId } })
  expect(await untilNothingIsFound(ofTask)).toEqual([])
})

// Holds findings 1.31.
test('finding 10: the branch of a deleted task goes at the code host, also when the erasure is broken off by a kill', async () => {
  const { ada, product, projectId } = scene
  const { title } = fresh()
  const { id: taskId } = await ada.task(projectId, `${title} is a numbat`)
  const { workingBranch } = await ada.taskOnce(taskId, hasEnded)
  const { pr } = await ada.ask(createPullRequest, { params: { taskId } })
  const branches = () => branchesAtHost(product.dataDir)
  expect(await branches()).toContain(workingBranch)
  const { user } = await ada.ask(getMe)
  // While it is open, the pull request would keep its branch.
  const merging = await fetch(`${product.codeHostUrl}/api/v3/repos/ada/engine/pulls/${pr.number}/merge`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${await codeHostToken(product.dataDir, user.id)}`,
      'content-type': 'application/json',
    },
    body: '{}',
  })
  expect(merging.status).toBe(200)
  await ada.ask(deleteTask, { params: { taskId } })
  await product.kill9()
  await product.restart()
  await expect.poll(branches, { interval: 100 }).toEqual(['main'])
  expect(await untilNothingIsFound([title])).toEqual([])
})

// Holds findings 1.30.
test('finding 10: a deleted project leaves no word of its settings, its secrets and its tasks', async () => {
  const { ada, product, projectId } = scene
  const words = fresh()
  const params = { projectId }
  const variables = [{ name: 'GREETING', value: words.variable }]
  await ada.ask(updateProjectSettings, { params, body: { variables } })
  await ada.ask(setProjectSecret, {
    params: { ...params, name: 'TOKEN' },
    body: { value: words.secret, forAgent: false },
  })
  await taskWith(ada, projectId, words)
  expect((await search(product.dataDir, [words.variable])).map(({ file }) => file)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^views\.sqlite/)]),
  )
  await ada.ask(deleteProject, { params })
  expect(await untilNothingIsFound(Object.values(words))).toEqual([])
})

test('finding 10: a deleted account leaves no word, and who comes back is somebody new', async () => {
  const { product } = scene
  const words = fresh()
  const grace = await product.signIn('grace', { onboarding: 'left' })
  await grace.ask(completeOnboarding, {
    body: {
      fullName: words.name,
      email: `${words.email}@example.com`,
      companySize: 'solo',
      role: 'developer',
    },
  })
  await grace.ask(updateProfile, { body: { email: `${words.email}@example.com` } })
  const { user } = await grace.ask(getMe)
  // An upload that no message has waits for one.
  await upload(grace, words)
  expect((await search(product.dataDir, [words.email])).map(({ file }) => file)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^views\.sqlite/)]),
  )
  await grace.ask(deleteAccount)
  expect(await grace.refused(getMe)).toMatchObject({ status: 401, code: 'sign_in_required' })
  expect(await untilNothingIsFound(Object.values(words))).toEqual([])
  const again = await product.signIn('grace')
  const { user: newcomer } = await again.ask(getMe)
  expect(newcomer.id).not.toBe(user.id)
  expect((await again.ask(listProjects)).projects).toEqual([])
})

test('finding 10: what was erased is in no file after a stop either', async () => {
  const { product } = scene
  await product.terminate()
  expect(await search(product.dataDir, ['quokka'])).toEqual([])
})
