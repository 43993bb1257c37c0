import { mkdtemp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeScene, testGit, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { notesOf } from '../../execution/repositoryNotes.ts'
import type { Git } from './git.ts'
import { openSurveys, repositoryAt, surveyOf } from './repositorySurvey.ts'

let scene: Scene
beforeEach(async () => {
  scene = await makeScene({ 'a.txt': 'a\n' })
})
afterEach(() => scene.remove())

const survey = async () => {
  const { dir: gitDir } = await scene.refresh()
  const scratch = { make: () => mkdtemp(join(scene.root, 'scratch-')) }
  const url = 'http://localhost:8081/ada/shop.git'
  return surveyOf({ git: testGit, scratch }, { gitDir, commit: 'refs/heads/main', url })
}

test('repository F2: of a plain repository there is nothing to tell', async () => {
  const found = await survey()
  expect(found).toEqual({ submodules: [], filters: [], isShallow: false })
  expect(notesOf(found)).toEqual([])
})

test('repository F2: submodules, Git LFS and other filters are told of by name', async () => {
  const modules = [
    ['vendor/lib', '../shared-lib.git'],
    ['vendor/far', 'https://example.com/x/far.git'],
    ['vendor/same', 'http://localhost:8081/grace/tool'],
  ].map(([path, url]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`)
  await scene.commit({
    '.gitmodules': modules.join(''),
    '.gitattributes': '[attr]hidden filter=git-crypt\nsecrets.env hidden\n*.none filter=never-used\n',
    'deep/.gitattributes': '*.bin filter=lfs\n*.txt -filter\n',
    'secrets.env': 'x',
    'deep/a.bin': 'x',
    'deep/a.txt': 'x',
  })
  const found = await survey()
  expect(found).toEqual({
    submodules: [
      { name: 'vendor/lib', path: 'vendor/lib', repository: 'ada/shared-lib', isOnHost: true },
      {
        name: 'vendor/far',
        path: 'vendor/far',
        repository: 'https://example.com/x/far.git',
        isOnHost: false,
      },
      { name: 'vendor/same', path: 'vendor/same', repository: 'grace/tool', isOnHost: true },
    ],
    filters: expect.toSatisfy((filters: string[]) => filters.toSorted().join() === 'git-crypt,lfs'),
    isShallow: false,
  })
  expect(notesOf({ ...found, isShallow: true }).join('\n')).toMatch(
    /^This repository has 3 submodules that are not fetched: vendor\/lib \(ada\/shared-lib\), .*\n.*Git LFS.*\n.*\(git-crypt\).*\n.*only the end/,
  )
  expect((await readdir(scene.root)).filter((name) => name.startsWith('scratch-'))).toEqual([])
})

test('a survey is kept, but not one that would fill the memory', async () => {
  const surveysOf = async (submodules: number) => {
    const modules = Array.from({ length: submodules }, (_, index) => {
      const path = `vendor/${'x'.repeat(200)}${index}`
      return `[submodule "${path}"]\n\tpath = ${path}\n\turl = https://example.com/x/far.git\n`
    })
    const commit = await scene.commit({ '.gitmodules': modules.join('') })
    const { dir: gitDir } = await scene.refresh()
    let calls = 0
    const git: Git = (call) => {
      calls += 1
      return testGit(call)
    }
    const survey = openSurveys({ git, scratch: { make: () => mkdtemp(join(scene.root, 'scratch-')) } })
    const at = { gitDir, commit, url: 'http://localhost:8081/ada/shop.git' }
    expect((await survey(at)).submodules).toHaveLength(submodules)
    const once = calls
    expect((await survey(at)).submodules).toHaveLength(submodules)
    return calls === once ? 'kept' : 'read again'
  }
  expect(await surveysOf(3)).toBe('kept')
  expect(await surveysOf(3_000)).toBe('read again')
})

test('a survey in which git took too long is not kept', async () => {
  const commit = await scene.commit({
    '.gitmodules': '[submodule "lib"]\n\tpath = lib\n\turl = https://example.com/x/far.git\n',
  })
  const { dir: gitDir } = await scene.refresh()
  let isSlow = true
  const git: Git = async (call) => {
    const finished = await testGit(call)
    return isSlow && call.args[0] === 'config' ? { ...finished, endedBy: 'time_limit' } : finished
  }
  const survey = openSurveys({ git, scratch: { make: () => mkdtemp(join(scene.root, 'scratch-')) } })
  const at = { gitDir, commit, url: 'http://localhost:8081/ada/shop.git' }
  await expect(survey(at)).rejects.toThrow('it took too long')
  isSlow = false
  expect((await survey(at)).submodules).toHaveLength(1)
})

test.each([
  ['../lib.git', 'ada/lib', true],
  ['../../grace/lib', 'grace/lib', true],
  ['../../../x', '../../../x', false],
  ['git@example.com:ada/lib.git', 'git@example.com:ada/lib.git', false],
  ['http://localhost:9999/ada/lib.git', 'http://localhost:9999/ada/lib.git', false],
])('repository F2: a submodule at %s is %s', (written, repository, isOnHost) => {
  expect(repositoryAt(written, 'http://localhost:8081/ada/shop.git')).toEqual({ repository, isOnHost })
})
