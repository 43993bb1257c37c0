/** The requests to the code host for one visit of the settings are limited, and their answers are kept for a while. */
import { beforeEach, describe, expect, test } from 'vitest'
import { neededPermissions } from '#domain/appPermissions.ts'
import { openInProcessBus } from '#platform/bus/inProcess.ts'
import { gitHubAnswers } from '#platform/credentials/hostAnswerCache.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { Installation } from '#platform/ports/codeHostApp.ts'
import { accessOf, type AccessSources } from './gitHubAccess.ts'

const ada = { id: 'u-ada', githubId: '1001' }
const grace = { id: 'u-grace', githubId: '1002' }
const app = {
  appId: '1',
  slug: 'flightdeck',
  name: 'Flightdeck',
  htmlUrl: null,
  clientId: 'a client',
  clientSecret: 'a secret of the client',
  privateKey: 'a private key',
  webhookSecret: null,
}
const installation = (index: number): Installation => ({
  id: String(index),
  account: {
    id: String(index),
    login: `org${String(index).padStart(4, '0')}`,
    isOrganization: true,
    avatarUrl: '',
  },
  permissions: neededPermissions,
  repositories: 'selected',
  suspendedAt: null,
  htmlUrl: '',
})

let asked: string[]
let has: Installation[]
let fault: CodeHostFault | undefined
/** Whoever asked an owner, and when the host answers with the installations. */
let requests: { account: string; requester: string; requesterId: string }[]
let answering: Promise<void>
let now: number
let bus: ReturnType<typeof openInProcessBus>
let sources: AccessSources
beforeEach(() => {
  asked = []
  has = [installation(1)]
  fault = undefined
  requests = []
  answering = Promise.resolve()
  now = 0
  bus = openInProcessBus({ onFault: () => undefined })
  sources = {
    gitHubAnswers: gitHubAnswers({ bus, clock: { now: () => new Date(now) } }),
    hostApp: { current: async () => app },
    localCodeHost: null,
    access: { tokenOf: async (id) => `token of ${id}` },
    codeHost: { appUrls: async () => ({ install: '', manage: '' }) },
    codeHostApps: {
      hasKey: async () => true,
      isPublic: async () => false,
      installationsOf: async (token) => {
        asked.push(`installations with the ${token}`)
        if (fault) throw fault
        await answering
        return { installations: has.slice(0, 200), count: has.length }
      },
      repositoriesOf: async (_token, { installationId, ids }) => {
        asked.push(`repositories of ${installationId}`)
        if (!has.some(({ id }) => id === installationId)) throw new CodeHostFault('not_found', 'No.')
        return { count: 900, ids: ids ? ['7'] : [], isCut: ids }
      },
      installationRequests: async () => {
        asked.push('requests with the key')
        return requests
      },
    },
  }
})
/** What was asked with people's tokens, and with the App's key. */
const ofPeople = () => asked.filter((one) => !one.endsWith('key'))
const ofApp = () => asked.filter((one) => one.endsWith('key'))
const ofAda = (query: Parameters<typeof accessOf>[2] = {}) => accessOf(sources, ada, query)

describe('a visit', () => {
  test('of somebody with a thousand installations asks about thirty of them, and says that there are more', async () => {
    has = Array.from({ length: 1_000 }, (_, index) => installation(index + 1))
    const { installations, more } = await ofAda()
    expect(installations).toHaveLength(100)
    expect(more).toBe(900)
    expect(ofPeople()).toHaveLength(1 + 30)
    expect(installations?.[0]).toMatchObject({ count: 900, selected: ['7'], isCut: true })
    expect(installations?.[99]).toMatchObject({ count: null, selected: null, isCut: false })
  })

  test('finds the installation that one comes back with, also where it is not among the first', async () => {
    has = Array.from({ length: 1_000 }, (_, index) => installation(index + 1))
    await expect(ofAda({ installation_id: '999' })).resolves.toMatchObject({ more: 900 })
    await expect(ofAda({ installation_id: '1001' })).rejects.toMatchObject({ code: 'install_callback' })
  })
})

describe('what the code host said', () => {
  test('counts for five minutes for the same person, however many visits', async () => {
    await Promise.all([ofAda(), ofAda(), ofAda()])
    now = 299_000
    await ofAda()
    expect(ofPeople()).toHaveLength(2)
    await accessOf(sources, grace, {})
    expect(asked).toContain('installations with the token of u-grace')
    expect(ofPeople()).toHaveLength(4)
    now = 301_000
    await ofAda()
    expect(ofPeople()).toHaveLength(6)
  })

  test('is asked for anew by a refresh, and after a return from the code host', async () => {
    await ofAda()
    has = [installation(1), installation(2)]
    now = 11_000
    expect((await ofAda()).installations).toHaveLength(1)
    expect((await ofAda({ refresh: 'true' })).installations).toHaveLength(2)
    has = [...has, installation(3)]
    expect((await ofAda({ installation_id: '3' })).installations).toHaveLength(3)
    // And that is what counts from then on.
    const before = ofPeople().length
    expect((await ofAda()).installations).toHaveLength(3)
    expect(ofPeople()).toHaveLength(before)
  })

  test('is not asked for anew by refreshes within ten seconds, nor while it is being asked for', async () => {
    let answers = () => {}
    answering = new Promise((resolve) => void (answers = resolve))
    const first = ofAda()
    await expect.poll(ofPeople).toHaveLength(1)
    now = 60_000
    const others = [ofAda({ refresh: 'true' }), ofAda({ refresh: 'true' }), ofAda({ installation_id: '1' })]
    answers()
    await Promise.all([first, ...others])
    expect(ofPeople()).toHaveLength(2)

    now = 70_000
    await ofAda({ refresh: 'true' })
    now = 79_000
    for (let n = 0; n < 5; n += 1) await ofAda({ refresh: 'true' })
    expect(ofPeople()).toHaveLength(4)
    // Whoever asked for what is new does not see the old for long.
    now = 81_000
    await ofAda()
    expect(ofPeople()).toHaveLength(6)
  })

  test('is asked for anew once for all who come back at the same time', async () => {
    await ofAda()
    has = [installation(1), installation(2)]
    const back = await Promise.all(Array.from({ length: 5 }, () => ofAda({ installation_id: '2' })))
    expect(back.map(({ installations }) => installations?.length)).toEqual([2, 2, 2, 2, 2])
    expect(asked.filter((one) => one.startsWith('installations'))).toHaveLength(2)
  })

  test('has the installation that was made since, and stays as it is for a number that is not theirs', async () => {
    await ofAda()
    has = [installation(1), installation(2)]
    for (let n = 0; n < 3; n += 1)
      await expect(ofAda({ installation_id: '4711' })).rejects.toMatchObject({ code: 'install_callback' })
    expect(asked.filter((one) => one.startsWith('installations'))).toHaveLength(1)
    expect((await ofAda({ installation_id: '2' })).installations).toHaveLength(2)
    expect((await ofAda()).installations).toHaveLength(2)
    expect(asked.filter((one) => one.startsWith('installations'))).toHaveLength(2)
  })

  test('of requests is one list for all people, which is read at most twice in a minute', async () => {
    requests = [ada, grace].map(({ id, githubId }) => ({
      account: `org of ${id}`,
      requester: id,
      requesterId: githubId,
    }))
    expect((await ofAda()).requests).toEqual([{ account: 'org of u-ada' }])
    expect((await accessOf(sources, grace, {})).requests).toEqual([{ account: 'org of u-grace' }])
    for (now = 0; now < 60_000; now += 1_000)
      await Promise.all([ofAda({ refresh: 'true' }), accessOf(sources, grace, { refresh: 'true' })])
    expect(ofApp()).toHaveLength(2)
  })

  test('is asked for anew once the code host tells of a change, also while it was being read', async () => {
    await ofAda()
    bus.publish('installations', { changed: true })
    await expect.poll(async () => (await ofAda(), ofPeople().length)).toBe(4)
  })

  test('does not count where it was no answer, nor for somebody whose connection has ended', async () => {
    fault = new CodeHostFault('unavailable', 'Away.')
    await expect(ofAda()).rejects.toBe(fault)
    fault = undefined
    expect((await ofAda()).installations).toHaveLength(1)
    sources = {
      ...sources,
      access: { tokenOf: async () => Promise.reject(new CodeHostFault('unauthorized', 'x')) },
    }
    await expect(ofAda()).rejects.toMatchObject({ kind: 'unauthorized' })
  })
})
