/** Facts about a repository on its project's page, and private submodules that the project's owner chooses. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { getMe } from '#domain/api/auth.schema.ts'
import { getProjectRepository, updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { getTaskDiff } from '#domain/api/tasks.schema.ts'
import { gitDone, localRepository } from '../contracts/codeHost.fixture.ts'
import { ownFolder } from '../product.ts'
import type { Person } from '../product/person.ts'
import { codeHostToken } from './pushing.ts'
import { files, hasEnded, openScene, type Scene } from './scene.ts'

const bash = (command: string) => [
  { tools: [{ name: 'Bash', input: { command, description: 'Work' } }] },
  { text: 'Done.' },
]

let folder = ''
let scene: Scene
beforeAll(async () => {
  folder = await ownFolder()
  const [repository, core, open] = [join(folder, 'engine'), join(folder, 'core'), join(folder, 'open')]
  await localRepository(open, { 'open.py': 'open to all\n' })
  await localRepository(core, { 'core.py': 'core of ada\n' })
  await localRepository(repository, { ...files, '.gitattributes': '*.md filter=sops\n' })
  await gitDone(repository, ['-c', 'protocol.file.allow=always', 'submodule', '-q', 'add', core, 'lib/co re'])
  await gitDone(repository, ['-c', 'protocol.file.allow=always', 'submodule', '-q', 'add', open, 'open'])
  const set = (key: string, value: string) =>
    gitDone(repository, ['config', '-f', '.gitmodules', `submodule.${key}`, value])
  await set('lib/co re.url', '../core.git')
  await set('open.url', '../open.git')
  await set('hidden.path', 'hidden')
  await set('hidden.url', '../../grace/hidden.git')
  await set('far.path', 'far')
  await set('far.url', 'git@example.com:x/far.git')
  const commit = (await gitDone(core, ['rev-parse', 'HEAD'])).trim()
  await gitDone(repository, ['update-index', '--add', '--cacheinfo', `160000,${commit},hidden`])
  await gitDone(repository, ['add', '.gitmodules'])
  await gitDone(repository, ['commit', '-qm', 'Use the core'])
  scene = await openScene(
    [
      {
        when: /Read the core/,
        turns: bash("cat open/open.py; cat 'lib/co re/core.py'; git -C 'lib/co re' remote -v"),
      },
    ],
    { repos: [repository, open] },
  )
  await pushPrivate(scene.ada, 'core', core)
  await pushPrivate(await scene.product.signIn('grace'), 'hidden', core)
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Makes a private repository at the code host, with the branch `main` of this one. */
async function pushPrivate(person: Person, name: string, from: string): Promise<void> {
  const host = join(scene.product.dataDir, 'codehost')
  const there = async () => (await readdir(host, { recursive: true })).filter((path) => path.endsWith('.git'))
  const before = await there()
  expect((await person.api('POST', '/github/repos', { name, private: true })).status).toBe(201)
  const made = (await there()).find((path) => !before.includes(path))
  await gitDone(from, ['push', '-q', join(host, made ?? ''), '+main:main'])
}

const repository = async () => {
  const { projectId, ada } = scene
  return (await ada.ask(getProjectRepository, { params: { projectId } })).repository
}

const printedBy = async () => {
  const { ada, projectId } = scene
  const { id } = await ada.task(projectId, 'Read the core')
  await ada.taskOnce(id, hasEnded)
  const { output } = await ada.ask(getTerminal, { params: { taskId: id } })
  const { data } = await ada.ask(getTaskDiff, { params: { taskId: id } })
  expect(data.changedFiles).toEqual([])
  return output.map(({ content }) => content).join('')
}

// Holds findings 1.93.
test('repository F2: the project tells what its repository is, and private submodules come with one choice', async () => {
  const { ada, projectId } = scene
  const before = await printedBy()
  expect(before).toContain(
    'Not all of these submodules were fetched: lib/co re (ada/core), open (ada/open), hidden (grace/hidden).',
  )
  expect(before).toContain('open to all\n')
  expect(before).not.toContain('core of ada')
  expect(await repository()).toEqual({
    submodules: [
      { path: 'lib/co re', repository: 'ada/core', access: 'private' },
      { path: 'open', repository: 'ada/open', access: 'public' },
      { path: 'hidden', repository: 'grace/hidden', access: 'hidden' },
      { path: 'far', repository: 'git@example.com:x/far.git', access: 'elsewhere' },
    ],
    submoduleCount: 4,
    filters: ['sops'],
    isShallow: false,
    hooks: null,
    detected: { found: [], setupCommand: '', hosts: [], variables: [], ports: [], notes: [] },
  })

  const params = { projectId }
  for (const other of ['git@example.com:x/far.git', 'https://example.com/x/far', 'file:///etc', '../core'])
    expect(await ada.refused(updateProjectSettings, { params, body: { submodules: [other] } })).toMatchObject(
      {
        status: 400,
        error: expect.stringContaining('Submodules are fetched from the code host alone'),
        field: 'submodules.0',
      },
    )
  const submodules = ['Ada/Core', 'grace/hidden']
  const { settings } = await ada.ask(updateProjectSettings, { params, body: { submodules } })
  expect(settings.submodules).toEqual(['ada/core', 'grace/hidden'])

  const printed = await printedBy()
  expect(printed).toContain('open to all\ncore of ada\n')
  // The submodule knows where it is from, and nothing of how it came.
  expect(printed).toMatch(/origin\thttp:\/\/[^\s@]*\/ada\/core\.git \(fetch\)/)
  expect(printed).toMatch(
    /hidden \(grace\/hidden\) was not fetched: GitHub can't find this, or your account has no access to it\./,
  )
  const { user } = await ada.ask(getMe)
  await scene.product.terminate()
  const token = await codeHostToken(scene.product.dataDir, user.id)
  const { stdout, stderr } = scene.product.logs
  for (const said of [printed, stdout, stderr]) expect(said).not.toContain(token)
})
