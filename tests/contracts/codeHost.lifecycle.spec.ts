/** Changes of repositories and branches on the local code host: names, owners, archives, protection and updates. */
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { askRest } from './codeHost.apps.fixture.ts'
import {
  commit,
  git,
  gitDone,
  signIn,
  startLocal,
  temporaryFolder,
  makeRepository,
  type Folder,
  type LocalCodeHost,
} from './codeHost.fixture.ts'
import { githubSchemas } from './codeHost.schemas.ts'

const schemaOf = githubSchemas('github-openapi-reviews.json')
let folder: Folder
let local: LocalCodeHost
let ada: string
let grace: string
let name = ''
let tree = ''
let count = 0

beforeAll(async () => {
  folder = await temporaryFolder()
  local = await startLocal(join(folder.path, 'data'))
  ada = (await signIn(local.codeHost, 'ada')).accessToken
  grace = (await signIn(local.codeHost, 'grace')).accessToken
})
afterAll(async () => {
  await local.stop()
  await folder.remove()
})

beforeEach(async () => {
  name = `engine-${++count}`
  tree = await makeRepository(local, ada, join(folder.path, name), {
    main: { 'README.md': 'engine\n' },
    feature: { 'b.ts': '2\n' },
  })
})

const ask = (method: string, path: string, body?: unknown, token = ada) =>
  askRest(local.api, [method, path], { token, ...(body === undefined ? {} : { body }) })
const push = async (...refs: string[]) =>
  git(tree, ['push', 'origin', ...refs], await local.codeHost.gitAccess(ada, { owner: 'ada', name }))
const openPull = () =>
  local.codeHost.openPullRequest(
    ada,
    { owner: 'ada', name },
    {
      head: 'feature',
      base: 'main',
      title: 'Add b',
      body: '',
      draft: false,
    },
  )
const expectValid = (operation: string, status: number, json: unknown) => {
  const validate = schemaOf(operation, status)
  validate(json)
  expect(validate.errors ?? []).toEqual([])
}

describe('a repository', () => {
  test('is found by its old names until another takes them, by REST, git and page', async () => {
    const renamed = await ask('PATCH', `/repos/ada/${name}`, { name: `${name}-now` })
    expect(renamed).toMatchObject({ status: 200, json: { full_name: `ada/${name}-now` } })
    expectValid('PATCH /repos/{owner}/{repo}', 200, renamed.json)
    const moved = await fetch(`${local.api}/repos/ada/${name}/branches`, { redirect: 'manual' })
    expect(moved.status).toBe(301)
    expect(moved.headers.get('location')).toMatch(/\/api\/v3\/repositories\/\d+\/branches$/)
    expect(await ask('GET', `/repos/ada/${name}`)).toMatchObject({
      status: 200,
      json: { name: `${name}-now` },
    })
    expect((await push('feature:refs/heads/by-old-name')).code).toBe(0)
    expect((await fetch(`${local.url}/ada/${name}`)).url).toBe(`${local.url}/ada/${name}-now`)
    await local.codeHost.createRepository(ada, { name, description: '', isPrivate: true })
    expect(await ask('GET', `/repos/ada/${name}`)).toMatchObject({ json: { name, private: true } })
  })

  test('says nothing of its old names to who may not see it', async () => {
    await ask('PATCH', `/repos/ada/${name}`, { name: `${name}-now`, private: true })
    expect((await ask('GET', `/repos/ada/${name}`, undefined, grace)).status).toBe(404)
    expect((await fetch(`${local.url}/ada/${name}`)).status).toBe(404)
    expect((await ask('GET', `/repos/ada/${name}`)).status).toBe(200)
  })

  test('goes to another account with all that is in it', async () => {
    await openPull()
    const given = await ask('POST', `/repos/ada/${name}/transfer`, { new_owner: 'acme' })
    expect(given).toMatchObject({ status: 202, json: { full_name: `acme/${name}` } })
    expect((await ask('GET', `/repos/ada/${name}/pulls/1`)).json).toMatchObject({ number: 1 })
    expect((await ask('POST', `/repos/acme/${name}/transfer`, { new_owner: 'nobody' })).status).toBe(422)
  })

  test('that is archived is only read, until it is active again', async () => {
    await openPull()
    await ask('PATCH', `/repos/ada/${name}`, { archived: true })
    const comment = () => ask('POST', `/repos/ada/${name}/issues/1/comments`, { body: 'x' })
    expect(await comment()).toMatchObject({
      status: 403,
      json: { message: expect.stringContaining('archived') },
    })
    expect((await push('feature:refs/heads/late')).stderr).toMatch(/403|archived/)
    expect((await ask('GET', `/repos/ada/${name}`)).json).toMatchObject({ archived: true })
    expect((await ask('PATCH', `/repos/ada/${name}`, { description: 'x' })).status).toBe(403)
    await ask('PATCH', `/repos/ada/${name}`, { archived: false })
    expect((await comment()).status).toBe(201)
  })

  test('is changed and deleted by who administers it only', async () => {
    expect((await ask('PATCH', `/repos/ada/${name}`, { name: 'hers' }, grace)).status).toBe(403)
    expect((await ask('DELETE', `/repos/ada/${name}`, undefined, grace)).status).toBe(403)
    expect((await ask('PATCH', `/repos/ada/${name}`, { default_branch: 'none' })).status).toBe(422)
    expect((await ask('PATCH', `/repos/ada/${name}`, { default_branch: 'feature' })).json).toMatchObject({
      default_branch: 'feature',
    })
    expect((await ask('DELETE', `/repos/ada/${name}`)).status).toBe(204)
    expect((await ask('GET', `/repos/ada/${name}`)).status).toBe(404)
    expect((await push('main')).code).not.toBe(0)
  })
})

describe('a branch', () => {
  const protect = (body: object) => ask('PUT', `/repos/ada/${name}/branches/main/protection`, body)
  const types = async () => {
    const { json } = await ask('GET', `/repos/ada/${name}/rules/branches/main`)
    expectValid('GET /repos/{owner}/{repo}/rules/branches/{branch}', 200, json)
    return z
      .array(z.looseObject({ type: z.string() }))
      .parse(json)
      .map(({ type }) => type)
  }

  test('that is protected takes no push, and merges what was approved', async () => {
    expect(await types()).toEqual([])
    await openPull()
    await protect({ required_pull_request_reviews: { required_approving_review_count: 1 } })
    expect(await types()).toEqual(['pull_request', 'non_fast_forward', 'deletion'])
    expect((await ask('GET', `/repos/ada/${name}/branches/main`)).json).toMatchObject({ protected: true })
    await gitDone(tree, ['checkout', '-q', 'main'])
    await commit(tree, 'main', { 'c.ts': '3\n' })
    expect((await push('main')).stderr).toMatch(/protected branch hook declined/)
    expect((await push('feature:refs/heads/other')).code).toBe(0)
    expect((await ask('PUT', `/repos/ada/${name}/pulls/1/merge`, {})).status).toBe(405)
    await ask('PUT', `/repos/ada/${name}/collaborators/grace`, { permission: 'push' })
    await ask('POST', `/repos/ada/${name}/pulls/1/reviews`, { event: 'APPROVE' }, grace)
    expect((await ask('PUT', `/repos/ada/${name}/pulls/1/merge`, {})).status).toBe(200)
    await ask('DELETE', `/repos/ada/${name}/branches/main/protection`)
    expect(await types()).toEqual([])
  })

  test('that wants signatures says so, and refuses commits without', async () => {
    const isSignedOnly = () => local.codeHost.takesOnlySigned(ada, { owner: 'ada', name }, 'main')
    expect(await isSignedOnly()).toBe(false)
    await protect({ required_signatures: true, required_pull_request_reviews: null })
    expect(await isSignedOnly()).toBe(true)
    expect(await types()).toContain('required_signatures')
    await commit(tree, 'main', { 'c.ts': '3\n' })
    expect((await push('main')).stderr).toMatch(/verified signatures/)
  })

  test('that fell behind is brought up to its base, from the head that was seen', async () => {
    await openPull()
    const path = `/repos/ada/${name}/pulls/1/update-branch`
    expect(await ask('PUT', path, {})).toMatchObject({ status: 422 })
    await commit(tree, 'main', { 'c.ts': '3\n' })
    await push('main')
    expect(await ask('PUT', path, { expected_head_sha: '0'.repeat(40) })).toMatchObject({ status: 422 })
    const updated = await ask('PUT', path, {})
    expectValid('PUT /repos/{owner}/{repo}/pulls/{pull_number}/update-branch', 202, updated.json)
    expect(updated.status).toBe(202)
    const { json } = await ask('GET', `/repos/ada/${name}/compare/main...feature`)
    expect(json).toMatchObject({ behind_by: 0, status: 'ahead' })
  })
})
