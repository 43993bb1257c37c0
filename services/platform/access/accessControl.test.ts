/** Who may sign in: by login, id and membership; how long an answer is kept, and what happens when a name changes hands. */
import { beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { everybody, type AllowList } from './allowList.ts'
import { answerLifetimesMs, openAccessControl, type AccessControl } from './accessControl.ts'

const nobody: AllowList = { ...everybody, everybody: false }
const acme = [{ organization: 'acme', team: null }]

/** The code host's organisations at this moment, by name, each with its id and its members. */
let host: Map<string, { id: string; members: string[] }>
let fault: CodeHostFault | Fault | null
/** The users of this server, by user id: the account at the code host as it was when they last signed in. */
let people: Map<string, { githubId: string | null; githubUsername: string | null }>
let ownToken: string | undefined
let now: number
let asked: number
let secrets: Map<string, string>
beforeEach(() => {
  host = new Map([['acme', { id: '2001', members: ['ada'] }]])
  fault = null
  people = new Map([
    ['u-ada', { githubId: '1001', githubUsername: 'Ada' }],
    ['u-grace', { githubId: '1002', githubUsername: 'grace' }],
    ['u-pat', { githubId: null, githubUsername: null }],
  ])
  ownToken = undefined
  now = Date.parse('2026-01-01T00:00:00Z')
  asked = 0
  secrets = new Map()
})

function accessControlOf(list: AllowList): AccessControl {
  return openAccessControl(
    { list, codeHostName: 'local' },
    {
      // Only these members of the document are read.
      documents: { get: (async (_view: unknown, id: string) => people.get(id)) as never },
      access: {
        tokenOf: async (userId) => {
          if (fault instanceof Fault) throw fault
          return userId
        },
      },
      codeHost: {
        ...(ownToken !== undefined && { ownToken }),
        membership: async (_token, { organization, team, login }) => {
          asked += 1
          if (fault !== null) throw fault
          const there = host.get(organization)
          if (team === 'elsewhere' || !there?.members.includes(login)) return undefined
          return { organizationId: there.id }
        },
      },
      vault: {
        getSecret: async (scope, name) => secrets.get(`${scope}/${name}`),
        putSecret: async (scope, name, secret) => void secrets.set(`${scope}/${name}`, secret),
        deriveKey: () => new Uint8Array(32),
      },
      clock: { now: () => new Date(now) },
      logger: { warn: () => undefined },
    },
  )
}
const ada = { id: '1001', login: 'Ada' }
const grace = { id: '1002', login: 'grace' }
const refused = { code: 'not_allowed' }

describe('a sign-in', () => {
  test('is open to who is named by login or id, to admins, and to members', async () => {
    for (const list of [
      { users: ['ada'] },
      { users: ['id:1001'] },
      { admins: ['ada'] },
      { organizations: acme },
      everybody,
    ]) {
      expect(await accessControlOf({ ...nobody, ...list }).allows(ada, 't')).toBe(true)
    }
    for (const list of [
      { users: ['ada', 'id:1001'], admins: ['id:1'] },
      { organizations: [{ organization: 'acme', team: 'elsewhere' }] },
    ])
      expect(await accessControlOf({ ...nobody, ...list }).allows(grace, 't')).toBe(false)
  })

  test('an id in the list is no login, and a login no id', async () => {
    expect(await accessControlOf({ ...nobody, users: ['1001'] }).allows(ada, 't')).toBe(false)
    expect(
      await accessControlOf({ ...nobody, users: ['id:1001'] }).allows({ id: '9', login: 'id:1001' }, 't'),
    ).toBe(false)
  })

  test('finding 6: who takes over the login of somebody who came in by it does not come in', async () => {
    const door = accessControlOf({ ...nobody, users: ['ada'], admins: ['grace'] })
    expect(await door.allows(ada, 't')).toBe(true)
    expect(await door.allows(grace, 't')).toBe(true)
    expect(await door.allows({ id: '666', login: 'ada' }, 't')).toBe(false)
    expect(await door.isAdmin({ id: 'u', githubId: '666', githubUsername: 'grace' })).toBe(false)
    expect(await door.isAdmin({ id: 'u', githubId: '1002', githubUsername: 'grace' })).toBe(true)
    expect(JSON.stringify([...secrets.keys()])).not.toMatch(/ada|grace/)
  })

  test('finding 6: members of an organisation that took over the name do not come in', async () => {
    const door = accessControlOf({ ...nobody, organizations: acme })
    expect(await door.allows(ada, 't')).toBe(true)
    host.set('acme', { id: '666', members: ['ada', 'mallory'] })
    expect(await door.allows({ id: '9', login: 'mallory' }, 't')).toBe(false)
  })
})

describe('github 4.8: in single-user mode', () => {
  const isAdmin = (id: string) =>
    accessControlOf(everybody).isAdmin({ id, githubId: '1001', githubUsername: 'ada' })

  test('the owner of GITHUB_TOKEN is an administrator, and nobody who came with another token', async () => {
    // In these tests, the token of a person is their user id.
    expect(await isAdmin('u-ada')).toBe(false)
    ownToken = 'u-ada'
    expect(await isAdmin('u-ada')).toBe(true)
    expect(await isAdmin('u-grace')).toBe(false)
  })

  test('whoever disconnected it is none any more', async () => {
    ownToken = 'u-ada'
    fault = new Fault('github_not_connected')
    expect(await isAdmin('u-ada')).toBe(false)
  })
})

describe('somebody who is in', () => {
  test('is asked about again after a while, and refused once they have left', async () => {
    const door = accessControlOf({ ...nobody, organizations: acme })
    await door.check('u-ada')
    host.clear()
    await door.check('u-ada')
    expect(asked).toBe(1)
    now += answerLifetimesMs.allowed
    await expect(door.check('u-ada')).rejects.toMatchObject(refused)
    host.set('acme', { id: '2001', members: ['ada'] })
    await expect(door.check('u-ada')).rejects.toMatchObject(refused)
    now += answerLifetimesMs.refused
    await door.check('u-ada')
  })

  test('stays for a while when the code host does not answer, and no longer', async () => {
    const door = accessControlOf({ ...nobody, organizations: acme })
    await door.check('u-ada')
    fault = new CodeHostFault('unavailable', 'It is down.')
    now += answerLifetimesMs.allowed
    await door.check('u-ada')
    const before = asked
    await door.check('u-ada')
    // A host that is down is not asked at every request.
    expect(asked).toBe(before)
    now += answerLifetimesMs.withoutHost
    await expect(door.check('u-ada')).rejects.toMatchObject({ code: 'code_host_unavailable' })
    await expect(door.check('u-grace')).rejects.toMatchObject({ code: 'code_host_unavailable' })
  })

  test('signs in again where their token no longer tells', async () => {
    const door = accessControlOf({ ...nobody, organizations: acme })
    for (const why of [new CodeHostFault('unauthorized', 'Gone.'), new Fault('github_not_connected')]) {
      fault = why
      await expect(door.check('u-ada')).rejects.toMatchObject({ code: 'sign_in_required' })
    }
  })

  test('needs an account at the code host where there is a list', async () => {
    await expect(accessControlOf({ ...nobody, users: ['ada'] }).check('u-pat')).rejects.toMatchObject(refused)
    await accessControlOf(everybody).check('u-pat')
  })

  test('is asked about once by many requests at once', async () => {
    const door = accessControlOf({ ...nobody, organizations: acme })
    await Promise.all(Array.from({ length: 20 }, () => door.check('u-ada')))
    expect(asked).toBe(1)
  })
})

test('a refusal names who was refused and whom to ask', () => {
  const said = (admins: string[], login: string | null) =>
    accessControlOf({ ...nobody, admins }).refusal(login)
  expect(said(['ada', 'id:7', 'linus'], 'grace')).toBe(
    'The GitHub account grace does not have access to this server. Ask ada or linus for access.',
  )
  expect(said(['id:7'], 'grace')).toMatch(/Ask its administrator for access\.$/)
  expect(said(['ada'], null)).toMatch(/^This account .* Ask ada for access, or sign in with a GitHub account/)
})
