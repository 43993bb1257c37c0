import { describe, expect, test } from 'vitest'
import type { InstallationOfPerson } from '#domain/api/github.schema.ts'
import { reachedCount, reachOf } from './appReach.ts'
import type { GitHubAccess } from './gitHubApi.ts'

const installation = (change: Partial<InstallationOfPerson> = {}): InstallationOfPerson => ({
  id: '7',
  account: 'acme',
  isOrganization: true,
  repositories: 'all',
  count: 3,
  selected: null,
  isCut: false,
  isSuspended: false,
  missing: [],
  url: 'https://code.example/7',
  ...change,
})
const access = (installations: InstallationOfPerson[] | null, more = 0): GitHubAccess => ({
  app: null,
  installations,
  more,
  requests: [],
})
const repository = { id: '1', full_name: 'Acme/engine' }

describe('a repository', () => {
  const selected = (ids: string[] | null) => installation({ repositories: 'selected', selected: ids })
  test.each([
    ['is reached where all are', access([installation()]), 'reached'],
    ['is reached where it was selected', access([selected(['2', '1'])]), 'reached'],
    ['is not where others were selected', access([selected(['2'])]), 'not_selected'],
    [
      'is not while its installation is suspended',
      access([installation({ isSuspended: true })]),
      'suspended',
    ],
    ['is not where its owner has no installation', access([]), 'not_installed'],
    ['may be in an installation that is not shown', access([], 1), 'unknown'],
    ['may be among those that were selected and not told', access([selected(null)]), 'unknown'],
    ['may be among the rest of many', access([{ ...selected(['2']), isCut: true }]), 'unknown'],
    ['is not known of without an App', access(null), 'unknown'],
    ['is not known of before the answer', undefined, 'unknown'],
  ] as const)('%s', (_, known, kind) => {
    expect(reachOf(repository, known)).toMatchObject({ kind })
  })
})

test('what is reached is the sum of installations, without suspended ones, where all are known', () => {
  const suspended = installation({ isSuspended: true, count: null })
  expect(reachedCount(access([installation(), installation({ count: 4 }), suspended]))).toBe(7)
  expect(reachedCount(access([]))).toBe(0)
  expect(reachedCount(access([installation({ count: null })]))).toBeUndefined()
  expect(reachedCount(access([installation()], 2))).toBeUndefined()
  expect(reachedCount(access(null))).toBeUndefined()
  expect(reachedCount(undefined)).toBeUndefined()
})
