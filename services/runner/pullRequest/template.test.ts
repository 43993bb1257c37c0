/** The repository's template for pull requests is read from the base branch. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gitOrThrow, gitText } from '../workspace/git/git.ts'
import { makeScene, testGit, type Scene } from '../../../tests/runner/workspaceScene.ts'
import { templateOf } from './template.ts'

let scene: Scene
beforeEach(async () => {
  scene = await makeScene({ 'a.txt': 'a\n' })
})
afterEach(() => scene.remove())

const found = async (files: Readonly<Record<string, string | Uint8Array>>) => {
  await scene.commit(files)
  return templateOf(testGit, { gitDir: scene.remote, branch: 'main' })
}

describe('the template of pull requests', () => {
  test.each([
    '.github/pull_request_template.md',
    '.github/PULL_REQUEST_TEMPLATE.md',
    'docs/Pull_Request_Template.MD',
    'pull_request_template.txt',
    '.github/PULL_REQUEST_TEMPLATE/change.md',
    'docs/pull_request_template/one.md',
    'PULL_REQUEST_TEMPLATE/one.txt',
  ])('is found at %s', async (path) => {
    expect(await found({ [path]: '## What\n<!-- say it -->\n' })).toBe('## What\n<!-- say it -->\n')
  })

  test('is the one that GitHub takes first where there are several', async () => {
    expect(await found({ 'pull_request_template.md': 'root', 'docs/pull_request_template.md': 'docs' })).toBe(
      'root',
    )
    expect(await found({ '.github/pull_request_template.md': 'github' })).toBe('github')
  })

  test('is none where the folder has several to choose from, and none where there is nothing of the name', async () => {
    expect(await found({ 'docs/other.md': 'x', 'pull_request_template.sh': 'x' })).toBeNull()
    const folder = '.github/PULL_REQUEST_TEMPLATE'
    expect(await found({ [`${folder}/a.md`]: 'a', [`${folder}/b.md`]: 'b' })).toBeNull()
  })

  test.each([
    ['empty', ' \n'],
    ['longer than a template is', 'x'.repeat(20_001)],
    ['binary', Uint8Array.of(80, 75, 0, 4)],
    ['not UTF-8', Uint8Array.of(0xc3, 0x28)],
    ['full of terminal escapes', 'a\u001B[31mb'],
  ])('is none where the file is %s', async (_, content) => {
    expect(await found({ '.github/pull_request_template.md': content })).toBeNull()
  })

  test('is never read through a link, whether of the file or of its folder', async () => {
    const gitDir = scene.remote
    const target = await gitText(testGit, {
      gitDir,
      args: ['hash-object', '-w', '--stdin'],
      input: '/etc/passwd',
    })
    const tree = await gitText(testGit, {
      gitDir,
      args: ['mktree'],
      input: `120000 blob ${target}\t.github\n120000 blob ${target}\tpull_request_template.md\n`,
    })
    const author = {
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a',
    }
    const commit = await gitText(testGit, { gitDir, args: ['commit-tree', '-m', 'links', tree], env: author })
    await gitOrThrow(testGit, { gitDir, args: ['update-ref', 'refs/heads/main', commit] })
    expect(await templateOf(testGit, { gitDir, branch: 'main' })).toBeNull()
  })

  test('calls nobody, however many it names', async () => {
    const storm = '@ada @grace, @org/team: '.repeat(500)
    const template = await found({ '.github/pull_request_template.md': `${storm}ada@example.com` })
    expect(template).toHaveLength(storm.length + 1_500 + 'ada@example.com'.length)
    expect(template).not.toMatch(/(?<![\w.])@\w/)
    expect(template).toMatch(/ada@example\.com$/)
  })

  test('is none of a branch that is not there', async () => {
    expect(await templateOf(testGit, { gitDir: scene.remote, branch: 'gone' })).toBeNull()
  })
})
