/** Repositories as they occur in practice: with filters, with repositories inside of the tree, and with a base branch that is gone. */
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  getProjectRepository,
  getProjectSettings,
  updateProjectSettings,
} from '#domain/api/projectSettings.schema.ts'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { createPullRequest, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { gitDone, localRepository } from '../contracts/codeHost.fixture.ts'
import { ownFolder } from '../product.ts'
import { bareRepository } from './pushing.ts'
import { files, hasEnded, openScene, type Scene } from './scene.ts'

const bash = (command: string) => [
  { tools: [{ name: 'Bash', input: { command, description: 'Work' } }] },
  { text: 'Done.' },
]

let folder = ''
let scene: Scene
beforeAll(async () => {
  folder = await ownFolder()
  const repository = join(folder, 'engine')
  const attributes = 'secrets.env filter=git-crypt diff=git-crypt\n'
  await localRepository(repository, {
    ...files,
    '.gitattributes': attributes,
    'secrets.env': '\0GITCRYPT\0abc',
    '.devcontainer/devcontainer.json': '//'.padEnd(10 * 1024 * 1024),
    'package-lock.json': '{}',
    'package.json': '{"engines": {"node": ">=999"}}',
  })
  await symlink('/etc/passwd', join(repository, '.nvmrc'))
  await gitDone(repository, ['branch', 'gone'])
  const library = join(folder, 'shared-lib')
  await localRepository(library, { 'util.py': 'shared\n' })
  await gitDone(repository, ['-c', 'protocol.file.allow=always', 'submodule', '-q', 'add', library, 'lib'])
  await gitDone(repository, ['config', '-f', '.gitmodules', 'submodule.lib.url', '../shared-lib.git'])
  await gitDone(repository, ['config', '-f', '.gitmodules', 'submodule.far.path', 'far'])
  await gitDone(repository, [
    'config',
    '-f',
    '.gitmodules',
    'submodule.far.url',
    'https://example.com/x/far.git',
  ])
  await gitDone(repository, ['add', '-A'])
  await gitDone(repository, ['commit', '-qm', 'Use the library'])
  scene = await openScene(
    [
      { when: /Read the library/, turns: bash('cat lib/util.py') },
      { when: /Write the secret/, turns: bash('echo NAME=value > secrets.env; echo > .gitattributes') },
      {
        when: /Begin a repository/,
        turns: bash('git init -q gen && git -C gen remote add origin http://x.example/a && echo 1 > gen/a'),
      },
      { when: /Say hello/, turns: bash('echo hello > hello.txt') },
    ],
    { repos: [repository, library] },
  )
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

const done = async (description: string, branch?: string) => {
  const { id } = await scene.ada.task(scene.projectId, description, branch)
  return scene.ada.taskOnce(id, hasEnded)
}

test('repository F1: what a repository holds is told once it is imported, before any task', async () => {
  const { repository } = await scene.ada.ask(getProjectRepository, { params: { projectId: scene.projectId } })
  expect(repository).toMatchObject({
    submodules: [
      { path: 'lib', access: 'public' },
      { path: 'far', access: 'elsewhere' },
    ],
    filters: ['git-crypt'],
    isShallow: false,
    detected: {
      found: [
        { file: 'package-lock.json', says: 'Packages of npm' },
        { file: 'package.json', says: 'node >=999' },
      ],
      setupCommand: 'npm ci',
      hosts: [{ host: 'registry.npmjs.org', from: 'package-lock.json' }],
      variables: [],
      ports: [],
      notes: expect.arrayContaining([
        '.devcontainer/devcontainer.json is larger than 256 KiB and is not read.',
        '.nvmrc is not a plain file and is not read.',
      ]),
    },
  })
})

test('nothing that the files of a repository propose is set or run before somebody uses it', async () => {
  const { settings } = await scene.ada.ask(getProjectSettings, { params: { projectId: scene.projectId } })
  expect(settings).toMatchObject({ setupCommand: '', egress: [], variables: [] })
})

test('repository F1: plain text on a path with a filter is refused with its name, until the owner allows the filter', async () => {
  const { id, workingBranch } = await done('Write the secret')
  const of = { params: { taskId: id } }
  expect(await scene.ada.refused(createPullRequest, of)).toMatchObject({
    status: 422,
    error: expect.stringMatching(/secrets\.env.*filter=git-crypt.*Nothing was committed\./),
  })
  const bare = await bareRepository(scene.product.dataDir)
  expect(await gitDone(bare, ['branch', '--list', workingBranch ?? ''])).toBe('')
  const allowed = {
    params: { projectId: scene.projectId },
    body: { allowedFilters: ['git-crypt', 'git-crypt'] },
  }
  const { settings } = await scene.ada.ask(updateProjectSettings, allowed)
  expect(settings.allowedFilters).toEqual(['git-crypt'])
  expect((await scene.ada.ask(createPullRequest, of)).pr.number).toBe(1)
})

test('repository F5: of work that is a repository of its own alone, both the changes and the refusal say what to do', async () => {
  const { id } = await done('Begin a repository')
  const { data } = await scene.ada.ask(getTaskDiff, { params: { taskId: id } })
  expect(data).toMatchObject({
    totalChanges: 1,
    changedFiles: [{ fileName: 'gen/', leftOut: true }],
    message: expect.stringMatching(/^No pull request takes up gen\/: .*\(gen\/\.git\)\.$/),
  })
  expect(await scene.ada.refused(createPullRequest, { params: { taskId: id } })).toMatchObject({
    status: 409,
    error: expect.stringMatching(/gen\/\. .*gen\/\.git$/),
  })
})

test('repository F6: a base branch that is gone is told of before anything is pushed', async () => {
  const { id, workingBranch } = await done('Say hello', 'gone')
  const bare = await bareRepository(scene.product.dataDir)
  await gitDone(bare, ['update-ref', '-d', 'refs/heads/gone'])
  expect(await scene.ada.refused(createPullRequest, { params: { taskId: id } })).toMatchObject({
    status: 422,
    error: expect.stringMatching(/^The repository has no branch gone any more\. Nothing was pushed\./),
  })
  expect(await gitDone(bare, ['branch', '--list', workingBranch ?? ''])).toBe('')
})

test('repository F2: a public submodule of the code host is fetched before the first turn, and others are told of', async () => {
  const { ada, projectId } = scene
  const { id } = await done('Read the library')
  const { output } = await ada.ask(getTerminal, { params: { taskId: id } })
  const printed = output.map(({ content }) => content).join('')
  expect(printed).toMatch(/1 submodule that is not fetched: far \(https:\/\/example\.com\/x\/far\.git\)\./)
  expect(printed).toMatch(/git submodule update --init -- 'lib' [^]*shared\n/)
  const { data } = await ada.ask(getTaskDiff, { params: { taskId: id } })
  expect(data.changedFiles).toEqual([])
  const { suggestions } = await ada.ask(getProjectSettings, { params: { projectId } })
  expect(suggestions).toContainEqual({ host: 'ada/shared-lib', from: '.gitmodules: lib' })
})
