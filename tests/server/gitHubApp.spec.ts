/** Which repositories the App reaches for a person, installations from which a browser returns, and the App's state for administrators. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { getGitHubAccess, getGitHubRights } from '#domain/api/github.schema.ts'
import { listRepositories } from '#domain/api/projects.schema.ts'
import { appPrivateKey } from '../product/gitHubBeside.ts'
import type { Person } from '../product/person.ts'
import { openScene, type Scene } from './scene.ts'

const env = { ALLOWED_USERS: '*', ADMINS: 'ada' }
let scene: Scene
let ada: Person
let grace: Person
const installationIds: Record<string, string> = {}
beforeAll(async () => {
  scene = await openScene([], { env, codeHost: 'github' })
  ada = scene.ada
  grace = await scene.product.signIn('grace')
  await scene.product.terminate()
  await changed(join(scene.product.dataDir, 'codehost'))
  await scene.product.restart()
})
afterAll(() => scene?.close())

const Repositories = z.object({ repositories: z.array(z.object({ id: z.number(), owner: z.string() })) })
const State = z.looseObject({
  installations: z.array(
    z.looseObject({
      id: z.number(),
      appId: z.number(),
      account: z.string(),
      permissions: z.record(z.string(), z.string()),
      repositoryIds: z.array(z.number()).nullable(),
      suspended: z.unknown(),
    }),
  ),
  installationRequests: z.array(z.unknown()),
})

/** acme has not granted `checks`, grace's installation is suspended, ada's has one repository, and two people wait for an owner of acme. */
async function changed(folder: string): Promise<void> {
  const path = join(folder, 'github.json')
  const state = State.parse(JSON.parse(await readFile(path, 'utf8')))
  const { repositories } = Repositories.parse(
    JSON.parse(await readFile(join(folder, 'code-host.json'), 'utf8')),
  )
  const at = '2026-03-01T10:00:00Z'
  for (const one of state.installations) {
    installationIds[one.account] = String(one.id)
    if (one.account === 'acme') delete one.permissions['checks']
    if (one.account === 'grace') one.suspended = { at, by: 'grace' }
    if (one.account === 'ada')
      one.repositoryIds = repositories.filter(({ owner }) => owner === 'ada').map(({ id }) => id)
  }
  const appId = state.installations[0]?.appId
  const request = { appId, account: 'acme', createdAt: at }
  state.installationRequests = [
    { ...request, id: 1, requester: 'grace' },
    { ...request, id: 2, requester: 'alan' },
  ]
  await writeFile(path, JSON.stringify(state))
}

describe('the access of a person', () => {
  test('is their installations, with the repositories there, what is missing and where it is granted', async () => {
    const { app, installations, more, requests } = await ada.ask(getGitHubAccess)
    const { codeHostUrl } = scene.product
    expect(app).toEqual({
      name: 'flightdeck',
      installUrl: `${codeHostUrl}/apps/flightdeck/installations/new`,
      manageUrl: `${codeHostUrl}/apps/flightdeck`,
      isPublic: true,
    })
    const own = (await ada.ask(listRepositories)).repositories.filter(({ full_name }) =>
      full_name.startsWith('ada/'),
    )
    expect(installations).toEqual([
      {
        id: installationIds['acme'],
        account: 'acme',
        isOrganization: true,
        repositories: 'all',
        count: expect.any(Number),
        selected: null,
        isCut: false,
        isSuspended: false,
        missing: [{ name: 'checks', level: 'read' }],
        url: `${codeHostUrl}/organizations/acme/settings/installations/${installationIds['acme']}`,
      },
      {
        id: installationIds['ada'],
        account: 'ada',
        isOrganization: false,
        repositories: 'selected',
        count: own.length,
        selected: expect.arrayContaining(own.map(({ id }) => id)),
        isCut: false,
        isSuspended: false,
        missing: [],
        url: `${codeHostUrl}/settings/installations/${installationIds['ada']}`,
      },
    ])
    expect({ more, requests }).toEqual({ more: 0, requests: [] })
  })

  test('tells of a suspended installation, and of what they asked an owner for themselves', async () => {
    const { installations, requests } = await grace.ask(getGitHubAccess)
    expect(installations).toMatchObject([{ account: 'grace', isSuspended: true, count: null }])
    // Not of what alan asked for.
    expect(requests).toEqual([{ account: 'acme' }])
  })

  test('has the installation that they come back with, and no other', async () => {
    const back = (installation_id: string) => ({ query: { installation_id } })
    const { installations } = await ada.ask(getGitHubAccess, back(installationIds['acme'] ?? ''))
    expect(installations).toHaveLength(2)
    for (const [person, id] of [
      [ada, '999999'],
      [ada, installationIds['grace'] ?? ''],
      [grace, installationIds['acme'] ?? ''],
    ] as const)
      expect(await person.refused(getGitHubAccess, back(id))).toMatchObject({
        status: 422,
        code: 'install_callback',
        error: 'GitHub App installation callback failed.',
      })
    expect(await ada.refused(getGitHubAccess, back('7 or 8'))).toMatchObject({
      status: 400,
      field: 'installation_id',
    })
  })
})

describe('the rights of the App', () => {
  const rights = () => ada.ask(getGitHubRights)

  test('are wanted, asked for and granted permissions, with installations, limits and what was delivered', async () => {
    const { app, permissions, installations, own } = await rights()
    expect(app).toMatchObject({ name: 'flightdeck', slug: 'flightdeck', hasKey: true })
    expect(permissions).toMatchObject({
      kind: 'read',
      rows: expect.arrayContaining([
        { name: 'contents', wanted: 'write', isOptional: false, app: 'write' },
        { name: 'administration', wanted: null, isOptional: true, app: 'write' },
      ]),
      missing: [],
      missingEvents: [],
      owner: { account: 'ada', isOrganization: false },
      url: `${scene.product.codeHostUrl}/settings/apps/flightdeck/permissions`,
    })
    const left = { limit: expect.any(Number), remaining: expect.any(Number), resetsAt: expect.any(String) }
    expect(installations).toMatchObject({
      kind: 'read',
      more: 0,
      installations: expect.arrayContaining([
        expect.objectContaining({
          account: 'acme',
          missing: [{ name: 'checks', level: 'read' }],
          suspendedAt: null,
          left,
        }),
        expect.objectContaining({ account: 'grace', suspendedAt: '2026-03-01T10:00:00Z', left: null }),
        expect.objectContaining({
          account: 'ada',
          repositories: 'selected',
          count: expect.any(Number),
          left,
        }),
      ]),
      requests: [
        { account: 'acme', requester: 'grace' },
        { account: 'acme', requester: 'alan' },
      ],
    })
    expect(own).toMatchObject({ kind: 'read', login: 'ada', left })
  })

  test('hold no secret', async () => {
    const { text } = await ada.api('GET', '/admin/github')
    expect(text).not.toMatch(/ghs_|ghu_|ghr_|BEGIN|secret|Iv1\./i)
    expect(text).not.toContain(appPrivateKey.slice(40, 80))
  })

  test('are for administrators alone', async () => {
    expect(await grace.refused(getGitHubRights)).toMatchObject({ status: 403, code: 'forbidden' })
  })

  test('are told of deliveries with what became of each', async () => {
    // acme grants what it had not: the code host tells of it.
    await onHost(`/organizations/acme/settings/installations/${installationIds['acme']}/permissions`)
    await expect
      .poll(async () => (await rights()).deliveries)
      .toMatchObject({
        kind: 'read',
        deliveries: expect.arrayContaining([
          expect.objectContaining({
            event: 'installation',
            action: 'new_permissions_accepted',
            succeeded: true,
            effect: 'handled',
          }),
        ]),
      })
  })
})

/** What ada does on a page of the code host. */
async function onHost(path: string): Promise<void> {
  const { codeHostUrl: origin } = scene.product
  const form = (to: string, body: Record<string, string>, cookie = '') =>
    fetch(`${origin}${to}`, {
      method: 'POST',
      body: new URLSearchParams(body),
      headers: { origin, cookie },
      redirect: 'manual',
    })
  const entered = await form('/login', { login: 'ada' })
  const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';')
  expect((await form(path, {}, cookie)).status).toBe(303)
}
