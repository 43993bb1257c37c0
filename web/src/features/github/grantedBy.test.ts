import { expect, test } from 'vitest'
import type { InstallationOfApp } from '#domain/api/github.schema.ts'
import { grantedBy } from './grantedBy.ts'

const installation = (account: string, granted: InstallationOfApp['granted']): InstallationOfApp => ({
  id: account,
  account,
  isOrganization: true,
  repositories: 'all',
  count: null,
  suspendedAt: null,
  granted,
  missing: [],
  left: null,
  url: '',
})
const checks = { name: 'checks', wanted: 'read', isOptional: false, app: 'read' } as const
const having = installation('acme', [{ name: 'checks', level: 'write' }])
const lacking = installation('northwind', [{ name: 'contents', level: 'write' }])

test.each([
  ['by all', checks, [having], { kind: 'all' }],
  ['not by one', checks, [having, lacking], { kind: 'not_in', accounts: ['northwind'], isNowhere: false }],
  ['by nobody', checks, [lacking, lacking], { kind: 'not_in', isNowhere: true }],
  [
    'too low',
    { ...checks, wanted: 'write', app: 'write' },
    [installation('a', [{ name: 'checks', level: 'read' }])],
    { kind: 'not_in', accounts: ['a'] },
  ],
  ['by all that an App has anyway', { ...checks, name: 'metadata' }, [lacking], { kind: 'all' }],
  ['by nobody while it is installed nowhere', checks, [], { kind: 'no_installation' }],
  ['not at all where it is not asked for', { ...checks, app: null }, [having], { kind: 'nothing_to_grant' }],
  ['as far as is known', checks, null, { kind: 'unknown' }],
] as const)('a permission is granted %s', (_, row, installations, granted) => {
  expect(grantedBy(row, installations)).toMatchObject(granted)
})
