import { describe, expect, test } from 'vitest'
import { neededPermissions, wantedEvents } from './appPermissions.ts'
import {
  deliveryEffects,
  missingAppPermissions,
  missingAppEvents,
  permissionRows,
  type Attempt,
} from './appStatus.ts'

describe('the permissions of an App', () => {
  test('that asks for all that is needed lack nothing', () => {
    expect(missingAppPermissions(neededPermissions)).toEqual([])
    // It is granted to each App, and some hosts leave it out.
    const { metadata: _metadata, ...others } = neededPermissions
    expect(missingAppPermissions(others)).toEqual([])
  })

  test('that are missing or too low are named with the level that is needed', () => {
    const { checks: _checks, ...others } = neededPermissions
    expect(missingAppPermissions({ ...others, contents: 'read' })).toEqual([
      { name: 'contents', level: 'write' },
      { name: 'checks', level: 'read' },
    ])
  })

  test('stand beside what is wanted: needed, optional, then what nothing here needs', () => {
    const rows = permissionRows({ contents: 'read', workflows: 'write', administration: 'write' })
    expect(rows.map(({ name }) => name)).toEqual([
      ...Object.keys(neededPermissions),
      'workflows',
      'members',
      'administration',
    ])
    const row = (name: string) => rows.find((one) => one.name === name)
    expect(row('metadata')).toEqual({ name: 'metadata', wanted: 'read', isOptional: false, app: 'read' })
    expect(row('contents')).toEqual({ name: 'contents', wanted: 'write', isOptional: false, app: 'read' })
    expect(row('members')).toEqual({ name: 'members', wanted: 'read', isOptional: true, app: null })
    expect(row('administration')).toMatchObject({ wanted: null, isOptional: true, app: 'write' })
  })

  test('go with events, of which those are named that it has not subscribed to', () => {
    const [, ...others] = Object.keys(wantedEvents)
    expect(missingAppEvents([...others, 'label'])).toEqual(['push'])
  })
})

describe('the effects of deliveries', () => {
  const attempt = (guid: string, change: Partial<Attempt> = {}): Attempt => ({
    guid,
    event: 'pull_request',
    succeeded: true,
    ...change,
  })
  const recorded = (...guids: string[]) => {
    const known = new Set(guids)
    return (guid: string) => known.has(guid)
  }

  test.each([
    ['handled where the log has it', attempt('a'), ['a'], 'handled'],
    ['handled where it failed and was fetched later', attempt('a', { succeeded: false }), ['a'], 'handled'],
    ['ignored where it leads to nothing', attempt('a', { event: 'star' }), [], 'ignored'],
    ['failed where it never came', attempt('a', { succeeded: false }), [], 'failed'],
    [
      'failed also where it leads to nothing',
      attempt('a', { event: 'ping', succeeded: false }),
      [],
      'failed',
    ],
    ['unknown where it was answered and the log has lost it', attempt('a'), ['b'], 'unknown'],
  ] as const)('%s', (_, one, known, effect) => {
    expect(deliveryEffects([one], recorded(...known))).toEqual([effect])
  })

  test('are one to a GUID: whatever came after the first repeats it', () => {
    const newestFirst = [attempt('a'), attempt('b'), attempt('a'), attempt('a', { succeeded: false })]
    expect(deliveryEffects(newestFirst, recorded('a', 'b'))).toEqual([
      'repeated',
      'handled',
      'repeated',
      'handled',
    ])
  })
})
