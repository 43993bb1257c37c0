import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { allowedShortcomings } from '#platform/config/valueTypes.ts'
import { testGit } from '../../../tests/runner/workspaceScene.ts'
import { noSandbox } from './none.ts'
import { notAllowed, trySandbox, withTrialWorkspace, type Shortcoming } from './probe.ts'

describe('finding low: a sandbox that lacks something', () => {
  const [one, two] = allowedShortcomings
  const lacks = (name: Shortcoming['name']): Shortcoming => ({ name, says: 'It lacks something.' })

  test('is for no real model unless exactly that is allowed', () => {
    const shortcomings = [lacks(one), lacks(two)]
    expect(notAllowed(shortcomings, [])).toEqual([one, two])
    expect(notAllowed(shortcomings, [two])).toEqual([one])
    expect(notAllowed(shortcomings, [one, two])).toEqual([])
  })

  test('stops nothing where it has no name, and what is allowed and not lacking is no matter', () => {
    expect(notAllowed([lacks(null)], [])).toEqual([])
    expect(notAllowed([], [one])).toEqual([])
  })
})

test('a machine without perl has a sandbox, of which nobody can see that it lacks nothing', async () => {
  const root = await mkdtemp(join(tmpdir(), 'flightdeck-probe-'))
  try {
    const withoutPerl = noSandbox({ path: root, git: testGit })
    expect(await withTrialWorkspace(root, (workspace) => trySandbox(withoutPerl, workspace))).toMatchObject([
      { name: 'seccomp' },
      { name: 'user_namespaces' },
    ])
  } finally {
    await rm(root, { recursive: true })
  }
})
