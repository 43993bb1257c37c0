/**
 * The choice of the access for reads about a task: an installation's access is used only for repositories that the task's owner may read now, and
 * with no more rights than the read needs.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import type { RepositoryToken } from '#platform/credentials/installations.ts'
import { CodeHostFault, type HostRepository } from '#platform/ports/codeHost.ts'
import type { Installation } from '#platform/ports/codeHostApp.ts'
import { readAccess, type AccessDeps, type Read, type TokenFor } from './access.ts'

const acme: Installation = {
  id: '7',
  account: { id: '2001', login: 'acme', isOrganization: true, avatarUrl: '' },
  permissions: { contents: 'read' },
  repositories: 'selected',
  suspendedAt: null,
  htmlUrl: 'https://github.com/organizations/acme/settings/installations/7',
}
const engine: HostRepository = {
  id: '42',
  owner: 'acme',
  name: 'engine',
  fullName: 'acme/engine',
  description: null,
  isPrivate: true,
  htmlUrl: 'https://github.com/acme/engine',
  defaultBranch: 'main',
  language: null,
  createdAt: null,
  isArchived: false,
  mayPush: null,
}
const ofAda: Read = { ownerId: 'ada', repositoryId: '42', repositoryOwner: 'acme' }
const none: RepositoryToken = { kind: 'none', why: 'not_selected', installation: acme }

let now: number
let tokens: number
let isSelected: boolean
let questions: string[]
let answer: () => Promise<void>
let connection: () => string
let asked: { readonly fresh: boolean }[]
let forgotten: number
let isKeyRefused: boolean
let left: { readonly limit: number; readonly remaining: number; readonly resetsAt: number } | undefined
let tokenFor: TokenFor

beforeEach(() => {
  now = 0
  tokens = 0
  isSelected = true
  questions = []
  answer = async () => undefined
  connection = () => "ada's token"
  asked = []
  forgotten = 0
  isKeyRefused = false
  left = undefined
  tokenFor = readAccess(deps)
})

const given = (accessToken: string): RepositoryToken =>
  isSelected ? { kind: 'token', accessToken, installation: acme } : none
const deps: AccessDeps = {
  access: { tokenOf: async () => connection() },
  installations: {
    readingToken: async (_repository, how) => {
      asked.push({ fresh: how?.fresh ?? false })
      if (isKeyRefused) throw new Fault('app_key_refused')
      tokens += 1
      return given(`wide ${tokens}`)
    },
    tokenFor: async (repository, work) => given(`narrow of ${repository.id} for ${work}`),
    forget: () => void (forgotten += 1),
  },
  codeHost: {
    allowance: () => left,
    repositoryById: async (token, id) => {
      questions.push(`${token} reads ${id}`)
      await answer()
      return { repository: engine, etag: null }
    },
  },
  clock: { now: () => new Date(now) },
}
const refuses = (kind: CodeHostFault['kind']) => async () => {
  throw new CodeHostFault(kind, 'no')
}
const holderNow = async (of = ofAda) => (await tokenFor(of)).holder
async function installed(of = ofAda) {
  const access = await tokenFor(of)
  if (access.kind !== 'installation') throw new Error('no installation')
  return access
}

describe('an installation', () => {
  test('reads what the owner may read, which is asked with their own token and remembered for five minutes', async () => {
    expect(await holderNow()).toBe('installation:7')
    now = 299_000
    expect(await holderNow()).toBe('installation:7')
    expect(questions).toEqual(["ada's token reads 42"])
    now = 301_000
    await holderNow()
    expect(questions).toHaveLength(2)
  })

  test.each(['not_found', 'forbidden', 'unauthorized'] as const)(
    'reads nothing for a person who is answered %s, and that is remembered too',
    async (kind) => {
      answer = refuses(kind)
      const access = await tokenFor(ofAda)
      expect([access.holder, await access.token(), await access.repositoryToken()]).toEqual([
        'user:ada',
        "ada's token",
        "ada's token",
      ])
      now = 299_000
      await holderNow()
      expect(questions).toHaveLength(1)
      now = 301_000
      answer = async () => undefined
      expect(await holderNow()).toBe('installation:7')
    },
  )

  test('reads nothing while the host cannot say, which is asked again', async () => {
    answer = refuses('unavailable')
    expect(await holderNow()).toBe('user:ada')
    answer = async () => undefined
    now = 5_001
    expect(await holderNow()).toBe('installation:7')
  })

  test('reads nothing for a person whose limit is nearly used up, or who has no connection', async () => {
    left = { limit: 5_000, remaining: 499, resetsAt: 60_000 }
    const access = await tokenFor(ofAda)
    expect(access.holder).toBe('user:ada')
    await expect(access.token()).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs: 60_000 })
    left = undefined
    connection = () => {
      throw new Fault('github_not_connected')
    }
    const other = await tokenFor(ofAda)
    expect(other.holder).toBe('user:ada')
    await expect(other.token()).rejects.toMatchObject({ code: 'github_not_connected' })
    expect(questions).toEqual([])
  })

  test('by ids reads all that it has, by a name the one repository', async () => {
    const access = await tokenFor(ofAda)
    expect(await access.token()).toMatch(/^wide/)
    expect(await access.repositoryToken()).toBe('narrow of 42 for reading')
  })

  test('is asked for a token at each use, and gives none once it is not to be used', async () => {
    const access = await installed()
    expect(await access.token()).toBe('wide 2')
    expect(await access.token()).toBe('wide 3')
    isSelected = false
    for (const token of [access.token, access.repositoryToken])
      await expect(token()).rejects.toMatchObject({ kind: 'unauthorized' })
    expect(await access.again()).toMatchObject({ holder: 'user:ada' })
    isSelected = true
    answer = refuses('not_found')
    now = 301_000
    await expect(access.token()).rejects.toMatchObject({ kind: 'unauthorized' })
    expect(await access.again()).toMatchObject({ holder: 'user:ada' })
  })

  test('github 1.1: is not replaced by its owner while the host refuses the key of the App', async () => {
    isKeyRefused = true
    const access = await tokenFor(ofAda)
    expect(access.kind).toBe('installation')
    for (const token of [access.token, access.repositoryToken])
      await expect(token()).rejects.toMatchObject({ code: 'app_key_refused' })
    isKeyRefused = false
    expect(access.kind === 'installation' && (await access.again()).holder).toBe('installation:7')
    expect(questions).toHaveLength(1)
  })

  test('that was refused is asked for a new token once, at most every five minutes', async () => {
    const access = await installed()
    access.refused()
    access.refused()
    await access.token()
    await access.token()
    access.refused()
    await access.token()
    expect(asked.map(({ fresh }) => fresh)).toEqual([false, true, false, false])
    expect(forgotten).toBe(1)
    now = 300_000
    access.refused()
    await access.token()
    expect(asked.at(-1)).toEqual({ fresh: true })
  })

  test('that is refused whatever token it has leaves the reading to the owner for an hour, and is tried again', async () => {
    const access = await installed()
    for (const minutes of [0, 5, 10]) {
      now = minutes * 60_000
      expect(await tokenFor(ofAda)).toMatchObject({ holder: 'installation:7' })
      access.refused()
    }
    expect(await access.again()).toMatchObject({ holder: 'user:ada' })
    now = 69 * 60_000
    expect(await tokenFor(ofAda)).toMatchObject({ holder: 'user:ada' })
    now = 70 * 60_000
    expect(await tokenFor(ofAda)).toMatchObject({ holder: 'installation:7' })
    expect(asked.at(-1)).toEqual({ fresh: true })
  })
})

describe('questions', () => {
  test('are one at a time for a person, and the same one is asked once', async () => {
    const open: (() => void)[] = []
    answer = () => new Promise((resolve) => open.push(resolve))
    const all = Promise.all(
      ['42', '42', '43', '44'].map((repositoryId) => holderNow({ ...ofAda, repositoryId })),
    )
    for (const count of [1, 2, 3]) {
      await expect.poll(() => open.length).toBe(count)
      await new Promise((soon) => setTimeout(soon))
      expect(questions).toHaveLength(count)
      open.at(-1)?.()
    }
    expect(new Set(await all)).toEqual(new Set(['installation:7']))
    expect(questions.map((question) => question.slice(-2))).toEqual(['42', '43', '44'])
  })

  test('that wait while the host is away are not each asked', async () => {
    answer = refuses('unavailable')
    const ids = Array.from({ length: 20 }, (_, index) => String(index))
    const holders = await Promise.all(ids.map((repositoryId) => holderNow({ ...ofAda, repositoryId })))
    expect(new Set(holders)).toEqual(new Set(['user:ada']))
    expect(questions).toHaveLength(1)
  })

  test('are not asked where no installation has the repository', async () => {
    isSelected = false
    expect(await holderNow()).toBe('user:ada')
    expect(questions).toEqual([])
  })
})
