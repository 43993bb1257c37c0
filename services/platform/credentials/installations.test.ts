/** Which installation has a repository, and which of its tokens is requested. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { CodeHostApps, Installation } from '#platform/ports/codeHostApp.ts'
import { openInProcessBus } from '#platform/bus/inProcess.ts'
import { installations, type Installations, type NoToken } from './installations.ts'

type Asked = Parameters<CodeHostApps['installationToken']>[0]

let bus: ReturnType<typeof openInProcessBus>
let now: number
let has: readonly Installation[]
let lists: number
let asked: Asked[]
let hasKey: boolean
let refusal: CodeHostFault | undefined
let listRefusal: CodeHostFault | undefined
let errors: string[]
let installed: Installations

beforeEach(() => {
  bus = openInProcessBus({ onFault: () => undefined })
  now = 0
  has = [acme]
  lists = 0
  asked = []
  hasKey = true
  refusal = undefined
  listRefusal = undefined
  errors = []
  installed = installations({
    bus,
    clock: { now: () => new Date(now) },
    logger: { error: (_about: unknown, message?: string) => void errors.push(message ?? '') },
    apps: {
      hasKey: async () => hasKey,
      installations: async () => {
        lists += 1
        if (listRefusal) throw listRefusal
        return has
      },
      installationToken: async (request) => {
        asked.push(request)
        if (refusal) throw refusal
        return `token ${asked.length}`
      },
    },
  })
})
afterEach(async () => {
  installed.close()
  await bus.close()
})

const acme: Installation = {
  id: '7',
  account: { id: '2001', login: 'Acme', isOrganization: true, avatarUrl: '' },
  permissions: { metadata: 'read', contents: 'write', pull_requests: 'write', checks: 'read' },
  repositories: 'selected',
  suspendedAt: null,
  htmlUrl: 'https://github.com/organizations/acme/settings/installations/7',
}
const engine = { id: '42', owner: 'acme' }

describe('a token for git', () => {
  test('is for one repository and what git needs, of the installation of its owner', async () => {
    expect(await installed.tokenFor(engine, 'git')).toEqual({
      kind: 'token',
      accessToken: 'token 1',
      installation: acme,
    })
    expect(asked).toEqual([{ installationId: '7', repositoryId: '42', permissions: { contents: 'write' } }])
  })

  test('may change workflows only where that was granted', async () => {
    expect(await installed.tokenFor(engine, 'git with workflows')).toMatchObject({ why: 'not_granted' })
    has = [{ ...acme, permissions: { ...acme.permissions, workflows: 'write' } }]
    installed.forget()
    expect(await installed.tokenFor(engine, 'git with workflows')).toMatchObject({ kind: 'token' })
    expect(asked.at(-1)?.permissions).toEqual({ contents: 'write', workflows: 'write' })
  })

  const causes: readonly (readonly [NoToken, () => void])[] = [
    ['no_key', () => void (hasKey = false)],
    ['not_installed', () => void (has = [])],
    ['suspended', () => void (has = [{ ...acme, suspendedAt: '2026-11-01T00:00:00Z' }])],
    ['not_granted', () => void (has = [{ ...acme, permissions: { contents: 'read' } }])],
    ['not_selected', () => void (refusal = new CodeHostFault('invalid', 'not accessible'))],
    ['not_installed', () => void (refusal = new CodeHostFault('not_found', 'It is gone.'))],
    ['suspended', () => void (refusal = new CodeHostFault('forbidden', 'It is suspended.'))],
  ]
  test.each(causes)('is not there, and why: %s', async (why, happen) => {
    happen()
    expect(await installed.tokenFor(engine, 'git')).toMatchObject({ kind: 'none', why })
  })

  test('a host that cannot be asked says nothing of the installation', async () => {
    refusal = new CodeHostFault('unavailable', 'away')
    await expect(installed.tokenFor(engine, 'git')).rejects.toBe(refusal)
  })
})

describe('reading', () => {
  test('asks for reads of what was granted, first of the repository, then of all that the installation has', async () => {
    expect(await installed.readingToken(engine)).toMatchObject({ kind: 'token', accessToken: 'token 2' })
    const permissions = { metadata: 'read', contents: 'read', pull_requests: 'read', checks: 'read' }
    expect(asked).toEqual([
      { installationId: '7', repositoryId: '42', permissions },
      { installationId: '7', repositoryId: null, permissions },
    ])
    await installed.readingToken(engine, { fresh: true })
    expect(asked.slice(2).map(({ fresh }) => fresh)).toEqual([true, true])
  })

  test('ends with a repository that the installation has not', async () => {
    refusal = new CodeHostFault('invalid', 'not accessible')
    expect(await installed.readingToken(engine)).toMatchObject({ why: 'not_selected' })
    expect(asked).toHaveLength(1)
  })
})

describe('what is known of installations', () => {
  test('counts for half a minute, however many ask', async () => {
    await Promise.all([1, 2, 3].map(() => installed.tokenFor(engine, 'git')))
    now = 29_000
    await installed.tokenFor(engine, 'git')
    expect(lists).toBe(1)
    now = 31_000
    await installed.tokenFor(engine, 'git')
    expect(lists).toBe(2)
  })

  test('is read again when the code host tells of a change', async () => {
    await installed.tokenFor(engine, 'git')
    has = []
    bus.publish('installations', { changed: true })
    await expect.poll(() => installed.tokenFor(engine, 'git')).toMatchObject({ why: 'not_installed' })
  })

  test('is read again where one is missing, at most every two seconds', async () => {
    const other = { id: '43', owner: 'grace' }
    for (now = 0; now < 2_000; now += 500) await installed.tokenFor(other, 'git')
    expect(lists).toBe(1)
    now = 2_500
    expect(await installed.tokenFor(other, 'git')).toMatchObject({ why: 'not_installed' })
    expect(lists).toBe(2)
  })

  test('a list that could not be read is asked for again by the next', async () => {
    listRefusal = new CodeHostFault('unavailable', 'away')
    await expect(installed.list()).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(installed.list()).rejects.toMatchObject({ kind: 'unavailable' })
    expect(lists).toBe(2)
  })
})

describe('a key that the host does not accept', () => {
  const told = 'GitHub does not accept the key of the App'
  const refused = { name: 'Fault', code: 'app_key_refused' }

  test.each(['unauthorized', 'not_found'] as const)(
    'github 1.1: leaves the work to nobody else, is not tried for each, and is told once: %s',
    async (kind) => {
      listRefusal = new CodeHostFault(kind, 'no')
      for (let asks = 0; asks < 3; asks += 1)
        await expect(installed.tokenFor(engine, 'git')).rejects.toMatchObject(refused)
      expect(lists).toBe(1)
      now = 31_000
      await expect(installed.readingToken(engine)).rejects.toMatchObject(refused)
      expect(lists).toBe(2)
      expect(errors).toEqual([told])
    },
  )

  test('github 1.1: is noticed by tokens as well, and told again after it had been accepted', async () => {
    refusal = new CodeHostFault('unauthorized', 'no')
    for (let asks = 0; asks < 2; asks += 1)
      await expect(installed.tokenFor(engine, 'git')).rejects.toMatchObject(refused)
    expect(errors).toEqual([told])
    refusal = undefined
    installed.forget()
    expect(await installed.tokenFor(engine, 'git')).toMatchObject({ kind: 'token' })
    refusal = new CodeHostFault('unauthorized', 'no')
    await expect(installed.tokenFor(engine, 'git')).rejects.toMatchObject(refused)
    expect(errors).toEqual([told, told])
  })

  test('github 1.1: is known to whoever asks, also where nobody had asked for a token', async () => {
    expect(await installed.isKeyRefused()).toBe(false)
    listRefusal = new CodeHostFault('unauthorized', 'no')
    now = 31_000
    expect(await installed.isKeyRefused()).toBe(true)
    listRefusal = undefined
    now = 62_000
    expect(await installed.isKeyRefused()).toBe(false)
    refusal = new CodeHostFault('unauthorized', 'no')
    await expect(installed.tokenFor(engine, 'git')).rejects.toMatchObject(refused)
    now = 93_000
    expect(await installed.isKeyRefused()).toBe(true)
    listRefusal = new CodeHostFault('unavailable', 'away')
    refusal = undefined
    expect(await installed.tokenFor(engine, 'git')).toMatchObject({ kind: 'token' })
    now = 124_000
    expect(await installed.isKeyRefused()).toBe(false)
  })

  test('ends where the host cannot be asked: that says nothing of it', async () => {
    listRefusal = new CodeHostFault('rate_limited', 'later')
    await expect(installed.tokenFor(engine, 'git')).rejects.toBe(listRefusal)
    expect(errors).toEqual([])
  })
})
