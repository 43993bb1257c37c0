/** Checks, jobs with logs, and commit statuses of the local code host, according to GitHub's own description. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { appToken } from './codeHost.apps.fixture.ts'
import {
  commit,
  gitDone,
  hostWithEngine,
  type HostWithEngine,
  type LocalCodeHost,
} from './codeHost.fixture.ts'
import { githubSchemas } from './codeHost.schemas.ts'

const schemaOf = githubSchemas('github-openapi-reviews.json')
const Runs = z.object({
  total_count: z.number(),
  check_runs: z.array(z.object({ id: z.number(), name: z.string(), conclusion: z.string().nullable() })),
})
let host: HostWithEngine
let local: LocalCodeHost
let ada: string
let grace: string
let head: string
let tree: string
const at = { owner: 'ada', name: 'engine' }
const repo = '/repos/ada/engine'
const log = `${'a line of the log\n'.repeat(300_000)}##[group]Run tests\nError: expected 1, got 2\n`

beforeAll(async () => {
  host = await hostWithEngine({
    main: { 'README.md': 'engine\n' },
    feature: { 'src/b.ts': 'export const b = 2\n' },
  })
  ;({ local, ada, grace, tree } = host)
  head = await gitDone(tree, ['rev-parse', 'feature'])
  await local.codeHost.openPullRequest(ada, at, {
    head: 'feature',
    base: 'main',
    title: 'Add b',
    body: '',
    draft: false,
  })
})
afterAll(() => host.close())

async function ask(method: string, path: string, { token, body }: { token?: string; body?: unknown } = {}) {
  const response = await fetch(path.startsWith('http') ? path : `${local.api}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  const json: unknown = isJson ? JSON.parse(text) : undefined
  return { status: response.status, json, text, headers: response.headers }
}

const annotation = {
  path: 'src/b.ts',
  startLine: 1,
  endLine: 1,
  level: 'failure',
  message: 'expected 1, got 2',
  title: 'b is wrong',
  rawDetails: null,
} as const

const written = { path: 'src/b.ts', start_line: 1, end_line: 1, message: 'odd' }

/** A token of what ada installed. */
async function installationToken(): Promise<string> {
  const token = await appToken(local)
  const { json } = await ask('POST', '/app/installations/1001/access_tokens', { token, body: {} })
  return z.looseObject({ token: z.string() }).parse(json).token
}

const report = (name: string, conclusion: 'failure' | 'success', more: object = {}) =>
  local.reportCheck('ada', 'engine', { name, conclusion, headSha: head, ...more })

const rollup = async () => {
  const query = `{ repository(owner: "ada", name: "engine") { pullRequest(number: 1) { mergeStateStatus commits(last: 1) { nodes { commit {
    statusCheckRollup { state contexts(first: 10) { totalCount nodes { __typename ... on CheckRun { name conclusion databaseId checkSuite { app { slug } } } ... on StatusContext { context state } } } } } } } } } }`
  const response = await fetch(`${local.url}/api/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${grace}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  return response.json()
}
const rolledUp = (mergeStateStatus: string, statusCheckRollup: unknown) => ({
  data: {
    repository: {
      pullRequest: { mergeStateStatus, commits: { nodes: [{ commit: { statusCheckRollup } }] } },
    },
  },
})

describe('checks', () => {
  test('a commit of which nothing was reported has no rollup', async () => {
    expect(await rollup()).toMatchObject(rolledUp('CLEAN', null))
  })

  test('the latest run of each name counts, and all are told when asked for', async () => {
    await report('test', 'success')
    const failed = await report('test', 'failure', { annotations: [annotation], title: '1 of 9 failed', log })
    await report('lint', 'success')
    const latest = await ask('GET', `${repo}/commits/feature/check-runs`)
    expect(Runs.parse(latest.json)).toMatchObject({
      total_count: 2,
      check_runs: [{ name: 'lint' }, { name: 'test', id: failed.id, conclusion: 'failure' }],
    })
    expect(
      Runs.parse((await ask('GET', `${repo}/commits/${head}/check-runs?filter=all`)).json).total_count,
    ).toBe(3)
    expect(await rollup()).toMatchObject(
      rolledUp('UNSTABLE', {
        state: 'FAILURE',
        contexts: {
          totalCount: 2,
          nodes: [
            { name: 'lint' },
            {
              __typename: 'CheckRun',
              name: 'test',
              conclusion: 'FAILURE',
              databaseId: failed.id,
              checkSuite: { app: { slug: 'github-actions' } },
            },
          ],
        },
      }),
    )
    expect((await ask('GET', `${repo}/commits/nothing/check-runs`)).status).toBe(404)
  })

  test('the log of a job is under a short-lived address of another origin, which takes no token', async () => {
    const runs = Runs.parse((await ask('GET', `${repo}/commits/feature/check-runs?check_name=test`)).json)
    const job = `${repo}/actions/jobs/${runs.check_runs[0]?.id}`
    const { status, headers } = await ask('GET', `${job}/logs`, { token: ada })
    expect(status).toBe(302)
    const where = headers.get('location') ?? ''
    expect(new URL(where).origin).not.toBe(new URL(local.api).origin)
    const read = await ask('GET', where)
    expect(read.headers.get('content-type')).toContain('text/plain')
    expect(read.text).toBe(log)
    expect((await ask('GET', `${where}x`)).status).toBe(404)
    const [lint] = Runs.parse(
      (await ask('GET', `${repo}/commits/feature/check-runs?check_name=lint`)).json,
    ).check_runs
    expect((await ask('GET', `${repo}/actions/jobs/${lint?.id}/logs`, { token: ada })).status).toBe(404)
  })

  test('only an App reports a run', async () => {
    const body = { name: 'mine', head_sha: head, conclusion: 'success' }
    expect(await ask('POST', `${repo}/check-runs`, { token: ada, body })).toMatchObject({ status: 403 })
    expect(await ask('POST', `${repo}/check-runs`, { body })).toMatchObject({ status: 401 })
    const token = await installationToken()
    const made = await ask('POST', `${repo}/check-runs`, { token, body: { name: 'ours', head_sha: head } })
    expect(made).toMatchObject({
      status: 201,
      json: { status: 'queued', conclusion: null, app: { slug: 'flightdeck' } },
    })
    const { id } = z.looseObject({ id: z.number() }).parse(made.json)
    const output = {
      title: 'Half',
      summary: 'of it',
      annotations: [{ ...written, annotation_level: 'warning' }],
    }
    const changed = await ask('PATCH', `${repo}/check-runs/${id}`, {
      token,
      body: { conclusion: 'neutral', output },
    })
    expect(changed).toMatchObject({
      status: 200,
      json: { status: 'completed', conclusion: 'neutral', output: { annotations_count: 1 } },
    })
    for (const [operation, { status, json }] of [
      ['POST /repos/{owner}/{repo}/check-runs', made],
      ['PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', changed],
    ] as const) {
      const validate = schemaOf(operation, status)
      validate(json)
      expect(validate.errors ?? []).toEqual([])
    }
    const [foreign] = Runs.parse(
      (await ask('GET', `${repo}/commits/feature/check-runs?check_name=lint`)).json,
    ).check_runs
    const refused = await ask('PATCH', `${repo}/check-runs/${foreign?.id}`, {
      token,
      body: { conclusion: 'success' },
    })
    expect(refused.status).toBe(403)
  })
})

describe('statuses', () => {
  test('the latest of a context counts, and who may not push sets none', async () => {
    const path = `${repo}/statuses/${head}`
    expect(await ask('POST', path, { token: grace, body: { state: 'success' } })).toMatchObject({
      status: 404,
    })
    await ask('POST', path, { token: ada, body: { state: 'pending', context: 'ci/old' } })
    expect((await ask('GET', `${repo}/commits/feature/status`)).json).toMatchObject({ state: 'pending' })
    await ask('POST', path, {
      token: ada,
      body: { state: 'error', context: 'ci/old', target_url: 'http://ci.example/1' },
    })
    expect((await ask('GET', `${repo}/commits/feature/status`)).json).toMatchObject({
      state: 'failure',
      total_count: 1,
      statuses: [{ state: 'error', context: 'ci/old' }],
    })
    expect(
      await ask('POST', path, { token: ada, body: { state: 'success', target_url: 'javascript:x' } }),
    ).toMatchObject({
      status: 422,
    })
  })
})

describe('what the adapter says failed', () => {
  /** The commit of a new pull request, and its number. */
  async function proposed(branch: string) {
    const sha = await commit(tree, branch, { [`src/${branch}.ts`]: 'export const c = 3\n' })
    const access = await local.codeHost.gitAccess(ada, at)
    await gitDone(tree, ['push', '-q', 'origin', branch], access)
    const asked = { head: branch, base: 'main', title: 'Add c', body: '', draft: false }
    const { number } = await local.codeHost.openPullRequest(ada, at, asked)
    return { sha, number }
  }

  test('has a status that fails beside a check of its name that does not, and counts it', async () => {
    const { sha, number } = await proposed('halves')
    const set = (context: string, state: string) =>
      ask('POST', `${repo}/statuses/${sha}`, { token: ada, body: { state, context } })
    const report = (name: string, conclusion: 'success' | 'failure') =>
      local.reportCheck('ada', 'engine', { name, conclusion, headSha: sha })
    await set('ci/status red', 'failure')
    await report('ci/status red', 'success')
    await set('ci/check red', 'success')
    await report('ci/check red', 'failure')
    await set('ci/waits', 'pending')
    await report('ci/waits', 'success')
    await set('ci/green', 'success')
    await report('ci/green', 'success')
    const failed = async () => (await local.codeHost.failedChecks(ada, at, sha)).map(({ name }) => name)
    expect((await failed()).toSorted()).toEqual(['ci/check red', 'ci/status red'])
    const checks = async () => {
      const [read] = await local.codeHost.pullRequestStates(ada, [{ repository: at, number }])
      return read?.kind === 'read' ? read.pullRequest.standing?.checks : null
    }
    // What is as good by both is one; where the status is worse, it stands beside the check.
    expect(await checks()).toEqual({ state: 'failing', failing: 2, pending: 1, passing: 3 })
    await set('ci/status red', 'success')
    expect(await failed()).toEqual(['ci/check red'])
    expect(await checks()).toEqual({ state: 'failing', failing: 1, pending: 1, passing: 3 })
  })

  test('has statuses of `failure` and `error` beside the checks, and what reports as both once', async () => {
    const { sha, number } = await proposed('reported')
    const states = {
      'ci/red': 'failure',
      'ci/broken': 'error',
      'ci/green': 'success',
      'ci/waits': 'pending',
      both: 'failure',
    }
    for (const [context, state] of Object.entries(states))
      await ask('POST', `${repo}/statuses/${sha}`, {
        token: ada,
        body: { state, context, description: `is ${state}` },
      })
    await local.reportCheck('ada', 'engine', { name: 'both', conclusion: 'failure', headSha: sha })
    const failed = () => local.codeHost.failedChecks(ada, at, sha)
    const first = await failed()
    expect(first.map(({ name, conclusion, hasAnnotations }) => [name, conclusion, hasAnnotations])).toEqual(
      expect.arrayContaining([
        ['both', 'failure', true],
        ['ci/red', 'failure', false],
        ['ci/broken', 'error', false],
      ]),
    )
    expect(first).toHaveLength(3)
    await ask('POST', `${repo}/statuses/${sha}`, {
      token: ada,
      body: { state: 'failure', context: 'ci/red' },
    })
    expect((await failed()).map(({ id }) => id).toSorted()).toEqual(first.map(({ id }) => id).toSorted())
    const [read] = await local.codeHost.pullRequestStates(ada, [{ repository: at, number }])
    expect(read).toMatchObject({
      pullRequest: { standing: { checks: { state: 'failing', failing: 3, passing: 1, pending: 1 } } },
    })
  })
})

describe("answers are as GitHub's own description says", () => {
  const cases: readonly (readonly [operation: string, path: string])[] = [
    ['GET /repos/{owner}/{repo}/commits/{ref}/check-runs', '/commits/feature/check-runs'],
    ['GET /repos/{owner}/{repo}/check-runs/{check_run_id}', '/check-runs/RUN'],
    ['GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations', '/check-runs/RUN/annotations'],
    ['GET /repos/{owner}/{repo}/commits/{ref}/check-suites', '/commits/feature/check-suites'],
    ['GET /repos/{owner}/{repo}/actions/jobs/{job_id}', '/actions/jobs/RUN'],
    ['GET /repos/{owner}/{repo}/commits/{ref}/status', '/commits/feature/status'],
    ['GET /repos/{owner}/{repo}/commits/{ref}/statuses', '/commits/feature/statuses'],
  ]
  const failed = async () => {
    const { json } = await ask('GET', `${repo}/commits/feature/check-runs?check_name=test`)
    return z
      .object({
        check_runs: z.array(z.object({ id: z.number(), check_suite: z.object({ id: z.number() }) })),
      })
      .parse(json).check_runs[0]
  }
  const expectValid = (operation: string, status: number, json: unknown) => {
    const validate = schemaOf(operation, status)
    validate(json)
    expect(validate.errors ?? []).toEqual([])
  }

  test.each(cases)('%s', async (operation, path) => {
    const run = await failed()
    const answer = await ask('GET', `${repo}${path.replace('RUN', String(run?.id))}`)
    expect(answer.status).toBe(200)
    expectValid(operation, 200, answer.json)
  })

  test('suites, the jobs of a run, and a status that is set', async () => {
    const suite = (await failed())?.check_suite.id
    expect(suite).toBeGreaterThan(0)
    const asked = await ask('GET', `${repo}/check-suites/${suite}`)
    expectValid('GET /repos/{owner}/{repo}/check-suites/{check_suite_id}', 200, asked.json)
    const jobs = await ask('GET', `${repo}/actions/runs/${suite}/jobs`)
    expectValid('GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs', 200, jobs.json)
    const set = await ask('POST', `${repo}/statuses/${head}`, { token: ada, body: { state: 'success' } })
    expectValid('POST /repos/{owner}/{repo}/statuses/{sha}', 201, set.json)
  })

  test('the check finds an answer that is not so', async () => {
    const { json } = await ask('GET', `${repo}/check-runs/${(await failed())?.id}`)
    const validate = schemaOf('GET /repos/{owner}/{repo}/check-runs/{check_run_id}', 200)
    expect(validate(json)).toBe(true)
    expect(validate({ ...z.looseObject({}).parse(json), conclusion: 'fine' })).toBe(false)
  })
})
