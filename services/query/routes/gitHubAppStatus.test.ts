/** The rights of the App when the code host does not answer, no longer knows the App, or has more than is shown. */
import { beforeEach, expect, test } from 'vitest'
import { neededPermissions } from '#domain/appPermissions.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { openInProcessBus } from '#platform/bus/inProcess.ts'
import { gitHubAnswers } from '#platform/credentials/hostAnswerCache.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { Installation } from '#platform/ports/codeHostApp.ts'
import { rightsOf, type RightsSources } from './gitHubAppStatus.ts'

const now = new Date('2026-03-02T12:00:00Z')
const left = { limit: 5_000, remaining: 4_000, resetsAt: '2026-03-02T13:00:00.000Z' }
const ada = { id: 'ada', githubConnected: true, githubUsername: 'ada' }
const installation = (id: number, change: Partial<Installation> = {}): Installation => ({
  id: String(id),
  account: {
    id: String(id),
    login: `org${String(id).padStart(3, '0')}`,
    isOrganization: true,
    avatarUrl: '',
  },
  permissions: neededPermissions,
  repositories: 'all',
  suspendedAt: null,
  htmlUrl: '',
  ...change,
})

let bus: ReturnType<typeof openInProcessBus>
let kept: RightsSources['gitHubAnswers']
let laterMs: number
beforeEach(() => {
  laterMs = 0
  bus = openInProcessBus({ onFault: () => undefined })
  kept = gitHubAnswers({ bus, clock: { now: () => new Date(now.getTime() + laterMs) } })
})

const apps: RightsSources['codeHostApps'] = {
  hasKey: async () => true,
  app: async () => ({
    slug: 'flightdeck',
    name: 'Flightdeck',
    htmlUrl: '',
    permissionsUrl: '',
    owner: { login: 'ada', isOrganization: false },
    permissions: neededPermissions,
    events: [],
  }),
  installations: async () => [installation(1)],
  installationRequests: async () => [],
  installationToken: async ({ installationId }) => `a token of ${installationId}`,
  repositoryCount: async () => 3,
  rateLimit: async () => left,
  deliveries: async () => [],
}
const sources = (change: Partial<RightsSources['codeHostApps']> = {}, more: Partial<RightsSources> = {}) => ({
  codeHostApps: { ...apps, ...change },
  codeHost: { appUrls: async () => ({ install: '', manage: '' }) },
  access: { tokenOf: async () => 'a token of ada' },
  hostApp: { current: async () => app },
  eventStore: { readStream: async () => [] },
  clock: { now: () => now },
  gitHubAnswers: kept,
  localCodeHost: null,
  ...more,
})
const app = {
  appId: '1',
  slug: 'flightdeck',
  name: 'Flightdeck',
  htmlUrl: null,
  clientId: 'a client',
  clientSecret: 'a secret of the client',
  privateKey: 'a private key',
  webhookSecret: 'a secret of the webhook',
}
const fails = (kind: CodeHostFault['kind'], said: string) => async () => {
  throw new CodeHostFault(kind, said)
}

test('a part that cannot be read says why, and the others are there', async () => {
  const reason = "GitHub can't be reached. Try again later."
  const away = fails('unavailable', reason)
  const rights = await rightsOf(sources({ installations: away, deliveries: away }), ada)
  expect(rights.installations).toEqual({ kind: 'unavailable', reason })
  expect(rights.deliveries).toEqual({ kind: 'unavailable', reason })
  expect(rights.permissions).toMatchObject({ kind: 'read', missing: [] })
  expect(rights.own).toEqual({ kind: 'read', login: 'ada', left })
})

test('a key that is not accepted is told of as the key of the App, and not as somebody’s sign-in', async () => {
  const refused = fails('unauthorized', 'GitHub no longer accepts your sign-in.')
  const { permissions } = await rightsOf(sources({ app: refused }), ada)
  expect(permissions).toMatchObject({
    reason: expect.stringMatching(/^GitHub refuses the private key/),
  })
})

test('without an App each part says what is missing, and the person’s own limit is there', async () => {
  const none = async () => {
    throw new Fault('setup_required')
  }
  const without = sources(
    { app: none, installations: none, deliveries: none },
    { hostApp: { current: async () => undefined } },
  )
  expect(await rightsOf(without, ada)).toMatchObject({
    app: null,
    permissions: { kind: 'unavailable' },
    own: { kind: 'read', left },
  })
  expect((await rightsOf(without, { ...ada, githubConnected: false })).own).toBeNull()
})

test('the local code host has no App and no limits, whatever people sign in with', async () => {
  const rights = await rightsOf(
    sources({ rateLimit: fails('not_found', 'Not Found') }, { localCodeHost: {} }),
    ada,
  )
  expect(rights).toMatchObject({ app: null, isLocal: true, own: null })
})

test('an older code host that lists no requests still lists installations', async () => {
  const { installations } = await rightsOf(
    sources({ installationRequests: fails('not_found', 'Not Found') }),
    ada,
  )
  expect(installations).toMatchObject({ kind: 'read', requests: [], installations: [{ count: 3, left }] })
})

test('of many installations a hundred are shown, and thirty asked about, five at a time', async () => {
  let underWay = 0
  let most = 0
  let asked = 0
  const { installations } = await rightsOf(
    sources({
      installations: async () => Array.from({ length: 250 }, (_, index) => installation(index + 1)),
      repositoryCount: async () => {
        asked += 1
        underWay += 1
        most = Math.max(most, underWay)
        await new Promise((resolve) => void setImmediate(resolve))
        underWay -= 1
        return 1
      },
    }),
    ada,
  )
  if (installations.kind !== 'read') throw new Error(installations.reason)
  expect(installations).toMatchObject({ more: 150 })
  expect(installations.installations).toHaveLength(100)
  expect({ asked, most }).toEqual({ asked: 30, most: 5 })
  expect(installations.installations[99]).toMatchObject({ account: 'org100', count: null, left: null })
})

test('no secret of the App or of a token is in the answer', async () => {
  const answer = JSON.stringify(await rightsOf(sources(), ada))
  expect(answer).not.toMatch(/a client|secret|private key|a token/)
})

test('installations are asked for once in a while, at a refresh, and after a change that the code host tells of', async () => {
  let asked = 0
  const counted = sources({
    installations: async () => {
      asked += 1
      return [installation(1)]
    },
  })
  await Promise.all([rightsOf(counted, ada), rightsOf(counted, ada)])
  await rightsOf(counted, { ...ada, id: 'another administrator' })
  await rightsOf(counted, ada, { again: true })
  expect(asked).toBe(1)
  laterMs = 11_000
  await rightsOf(counted, ada, { again: true })
  expect(asked).toBe(2)
  bus.publish('installations', { changed: true })
  await expect.poll(async () => (await rightsOf(counted, ada), asked)).toBe(3)
})
