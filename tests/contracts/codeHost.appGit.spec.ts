/** git over HTTP with the tokens of Apps: limited by repositories, by `contents`, and by `workflows`. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { appToken, askRest } from './codeHost.apps.fixture.ts'
import {
  commit,
  git,
  gitDone,
  signIn,
  startLocal,
  temporaryFolder,
  type Folder,
  type LocalCodeHost,
} from './codeHost.fixture.ts'

const Token = z.object({ token: z.string() })
let folder: Folder
let local: LocalCodeHost
let ada: string
let tree: string

beforeAll(async () => {
  folder = await temporaryFolder()
  // As the data of whoever starts it from its sources, which are modules.
  await writeFile(join(folder.path, 'package.json'), '{ "type": "module" }')
  local = await startLocal(join(folder.path, 'data'), { tokenShape: 'long' })
  ada = (await signIn(local.codeHost, 'ada')).accessToken
  const made = await local.codeHost.createRepository(ada, {
    name: 'engine',
    description: '',
    isPrivate: true,
  })
  const access = await local.codeHost.gitAccess(ada, made)
  tree = join(folder.path, 'tree')
  await gitDone(folder.path, ['clone', '-q', access.url, tree], access)
  await commit(tree, 'main', { 'README.md': 'engine\n', '.github/workflows/ci.yml': 'on: push\n' })
  await gitDone(tree, ['push', '-q', 'origin', 'main'], access)
})
afterAll(async () => {
  await local.stop()
  await folder.remove()
})

/** What git is given with a token of ada's installation that has these permissions. */
async function access(permissions: Record<string, string>, repositories = ['engine']) {
  const { json } = await askRest(local.api, ['POST', '/app/installations/1001/access_tokens'], {
    token: await appToken(local),
    body: { repositories, permissions },
  })
  const { token } = Token.parse(json)
  return { authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}` }
}

const push = async (branches: readonly string[], permissions: Record<string, string>) =>
  git(tree, ['push', 'origin', ...branches], await access(permissions))

test('reads with contents: read, and writes only with contents: write', async () => {
  const reader = await access({ contents: 'read' })
  expect(await git(tree, ['ls-remote', 'origin'], reader)).toMatchObject({ code: 0 })
  await commit(tree, 'feature', { 'a.txt': 'a\n' })
  const refused = await push(['feature'], { contents: 'read' })
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('Write access to repository not granted.')
  expect(await push(['feature'], { contents: 'write' })).toMatchObject({ code: 0 })
  const nothing = await git(tree, ['ls-remote', 'origin'], await access({ issues: 'write' }))
  expect(nothing.stderr).toContain('403')
})

test('a repository that the token does not cover is not there', async () => {
  const other = await git(tree, ['ls-remote', 'origin'], await access({ contents: 'write' }, ['notes']))
  expect(other.code).not.toBe(0)
  expect(other.stderr).toContain('not found')
  const forged = { authorization: `Basic ${Buffer.from('x-access-token:ghs_no').toString('base64')}` }
  expect((await git(tree, ['ls-remote', 'origin'], forged)).code).not.toBe(0)
})

test('workflows are changed only with the right to, told branch by branch, and nothing of the branch stays', async () => {
  await commit(tree, 'flow', { '.github/workflows/ci.yml': 'on: [push, pull_request]\n' })
  await gitDone(tree, ['checkout', '-q', 'main'])
  await commit(tree, 'plain', { 'b.txt': 'b\n' })
  const refused = await push(['flow', 'plain'], { contents: 'write' })
  expect(refused.stderr).toMatch(
    /! \[remote rejected\] flow -> flow \(refusing to allow a GitHub App to create or update workflow `\.github\/workflows\/ci\.yml` without `workflows` permission\)/,
  )
  const there = await gitDone(tree, ['ls-remote', '--heads', 'origin'], await access({ contents: 'read' }))
  expect(there).toContain('refs/heads/plain')
  expect(there).not.toContain('refs/heads/flow')
  expect(await push(['flow'], { contents: 'write', workflows: 'write' })).toMatchObject({ code: 0 })
})

test('a branch that brings what the base did to workflows is refused as well, and can be deleted', async () => {
  await gitDone(tree, ['checkout', '-q', 'feature'])
  await gitDone(tree, ['merge', '-q', '--no-edit', 'flow'])
  const refused = await push(['feature'], { contents: 'write' })
  expect(refused.stderr).toContain('without `workflows` permission')
  expect(await push([':feature'], { contents: 'write' })).toMatchObject({ code: 0 })
})

test('a pull request follows a push that was looked at', async () => {
  await gitDone(tree, ['checkout', '-q', 'main'])
  await commit(tree, 'watched', { 'w.txt': '1\n' })
  await push(['watched'], { contents: 'write' })
  const made = await local.codeHost.openPullRequest(
    ada,
    { owner: 'ada', name: 'engine' },
    {
      head: 'watched',
      base: 'main',
      title: 'Watch',
      body: '',
      draft: false,
    },
  )
  const moved = await commit(tree, 'watched', { 'w.txt': '2\n' })
  expect(await push(['watched'], { contents: 'write' })).toMatchObject({ code: 0 })
  const { json } = await askRest(local.api, ['GET', `/repos/ada/engine/pulls/${made.number}`], { token: ada })
  expect(json).toMatchObject({ head: { sha: moved } })
})
