/** Pushes that the code host refuses: workflow files without the right to change them, and a protected branch. The work is kept. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getMe } from '#domain/api/auth.schema.ts'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import { gitDone } from '../../contracts/codeHost.fixture.ts'
import { bareRepository, branchesAtHost, codeHostToken } from '../../server/pushing.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })
const workflow = '.github/workflows/ci.yml'

let scene: Scene
let token = ''
beforeAll(async () => {
  scene = await openScene(
    [
      {
        when: /Check each push/,
        turns: [
          { tools: [bash(`mkdir -p .github/workflows; echo 'on: push' > ${workflow}`)] },
          { text: 'Each push is checked.' },
        ],
      },
      { when: /Say nothing/, turns: [{ text: 'Nothing.' }] },
      { when: /Say goodbye/, turns: [{ tools: [bash('echo Goodbye. >> README.md')] }, { text: 'Said.' }] },
      { when: /And in German/, turns: [{ tools: [bash('echo Tschüs. >> README.md')] }, { text: 'Gesagt.' }] },
    ],
    { codeHost: 'github' },
  )
  const { product, ada } = scene
  const { user } = await ada.ask(getMe)
  await product.terminate()
  token = await codeHostToken(product.dataDir, user.id)
  await withoutWorkflows(join(product.dataDir, 'codehost/github.json'))
  await product.restart()
})
afterAll(() => scene?.close())

/** As an App that was installed before it asked for workflows. */
async function withoutWorkflows(path: string): Promise<void> {
  const Kept = z.looseObject({
    installations: z.array(z.looseObject({ permissions: z.record(z.string(), z.string()) })),
  })
  const kept = Kept.parse(JSON.parse(await readFile(path, 'utf8')))
  for (const { permissions } of kept.installations) delete permissions['workflows']
  await writeFile(path, JSON.stringify(kept))
}

/** What ada does on a page of the code host on which she is signed in. */
async function sends(path: string): Promise<void> {
  const { codeHostUrl: origin } = scene.product
  const form = (to: string, body: Record<string, string>, headers: Record<string, string>) =>
    fetch(`${origin}${to}`, {
      method: 'POST',
      body: new URLSearchParams(body),
      headers: { origin, ...headers },
      redirect: 'manual',
    })
  const entered = await form('/login', { login: 'ada' }, {})
  const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';')
  expect((await form(path, {}, { cookie })).status).toBe(303)
}

const byReview = { required_pull_request_reviews: { required_approving_review_count: 1 } }
const bySignature = { required_pull_request_reviews: null, required_signatures: true }

async function protects(method: 'PUT' | 'DELETE', branch: string, by: object = byReview): Promise<void> {
  const address = `${scene.product.codeHostUrl}/api/v3/repos/ada/engine/branches/${branch}/protection`
  const answer = await fetch(address, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(method === 'PUT' && {
      body: JSON.stringify({
        ...by,
        required_status_checks: null,
        enforce_admins: true,
        restrictions: null,
      }),
    }),
  })
  expect(answer.ok).toBe(true)
}

test('workflow files are not pushed without the right to, and both the files and the place to grant it are named', async () => {
  const { ada, product, projectId } = scene
  const { id } = await ada.task(projectId, 'Check each push')
  const { workingBranch } = await ada.taskOnce(id, hasEnded)
  const asked = { params: { taskId: id } }
  const grants = '/settings/installations/1001'
  const refused = await ada.refused(createPullRequest, asked)
  expect(refused).toMatchObject({ status: 403, code: 'workflows_not_granted' })
  expect(refused.error).toContain(`changes ${workflow}, `)
  expect(refused.error).toContain('Nothing was pushed')
  expect(refused.error).toContain(`${product.codeHostUrl}${grants}`)
  expect(await branchesAtHost(product.dataDir)).not.toContain(workingBranch)

  await sends(`${grants}/permissions`)
  // The code host tells of it by webhook.
  await expect
    .poll(() => ada.ask(createPullRequest, asked).catch(() => undefined))
    .toMatchObject({ pr: { number: 1 } })
  const bare = await bareRepository(product.dataDir)
  expect(await gitDone(bare, ['show', `${workingBranch}:${workflow}`])).toBe('on: push')
})

test('a base branch that takes only signed commits is told of before the work, where this server signs none', async () => {
  const { ada, projectId } = scene
  await protects('PUT', 'main', bySignature)
  const { id } = await ada.task(projectId, 'Say nothing')
  await ada.taskOnce(id, hasEnded)
  await protects('DELETE', 'main')
  const { output } = await ada.ask(getTerminal, { params: { taskId: id } })
  expect(output.map(({ content }) => content).join('')).toMatch(
    /^Warning: main takes only signed commits, and this server signs none/m,
  )
})

test('a branch that is protected meanwhile takes nothing, and has all of the work once it is not', async () => {
  const { ada, product, projectId } = scene
  const { id } = await ada.task(projectId, 'Say goodbye')
  const { workingBranch } = await ada.taskOnce(id, hasEnded)
  const branch = workingBranch ?? ''
  const asked = { params: { taskId: id } }
  await ada.ask(createPullRequest, asked)
  await protects('PUT', branch)
  const bare = await bareRepository(product.dataDir)
  const before = await gitDone(bare, ['rev-parse', branch])

  await ada.ask(sendMessage, { ...asked, body: { message: 'And in German' } })
  await ada.taskOnce(id, (task) => hasEnded(task) && task.execution?.turn === 2)
  expect(await ada.refused(createPullRequest, asked)).toMatchObject({
    status: 422,
    code: 'code_host_refused',
    error: expect.stringMatching(/^The branch is protected on the code host.* The work is kept/),
  })
  await protects('PUT', branch, bySignature)
  expect(await ada.refused(createPullRequest, asked)).toMatchObject({
    code: 'code_host_refused',
    error: expect.stringMatching(
      /^The code host takes only commits with verified signatures.* The work is kept/,
    ),
  })
  expect(await gitDone(bare, ['rev-parse', branch])).toBe(before)

  await protects('DELETE', branch)
  await ada.ask(createPullRequest, asked)
  expect(await gitDone(bare, ['show', `${branch}:README.md`])).toMatch(/Goodbye\.\nTschüs\.$/)
})
