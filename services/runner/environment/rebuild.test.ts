import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ProjectEnvironmentEvent } from '#domain/project/environmentEvents.ts'
import { sha256 } from '#platform/hashes.ts'
import { logger } from '#platform/log.ts'
import { projectId, userId } from '../../../tests/domain/ids.ts'
import { recordingCommands } from '../../../tests/runner/environmentScene.ts'
import { testPath } from '../../../tests/runner/workspaceScene.ts'
import { failed } from '../execution/failure.ts'
import { archivesIn, beginLayer, keepLayer } from './layers.ts'
import { openRebuilds, type RebuildPorts, type Rebuilds } from './rebuild.ts'
import type { Rebuild } from './setUpNewWorkspace.ts'

let root: string
const opened: Rebuilds[] = []
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flightdeck-rebuild-'))
})
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
  await rm(root, { recursive: true })
})

const request = { projectId: projectId(1), ownerId: userId(1) }
const keyOf = (locks: string) => ({ setup: sha256('npm ci'), setupAndLocks: sha256(locks) })

/** A setup that runs until the test ends it, or until it is stopped. */
interface Running extends Rebuild {
  end(failure?: ReturnType<typeof failed>): void
}

/** Opens rebuilds whose setups are in the returned list. */
async function open(ports: Partial<RebuildPorts> = {}) {
  const running: Running[] = []
  let onSetUp = (): void => undefined
  const { commands, recorded } = recordingCommands()
  const rebuilds = await openRebuilds(
    {
      root,
      path: testPath,
      sandbox: { kind: 'bubblewrap' },
      logger: logger('silent'),
      commands,
    },
    {
      hasSetup: async () => true,
      isUsed: async () => true,
      usableKeys: async () => [keyOf('now')],
      changedLocks: async () => undefined,
      setUp: (rebuild) =>
        new Promise((resolve) => {
          rebuild.stop.signal.addEventListener('abort', () => resolve(failed('interrupted', 'Stopped.')))
          running.push({ ...rebuild, end: resolve })
          onSetUp()
        }),
      ...ports,
    },
  )
  opened.push(rebuilds)
  return {
    rebuilds,
    running,
    recorded,
    /** Resolves with the n-th setup when it runs. */
    async setUp(n: number): Promise<Running> {
      for (;;) {
        const found = running[n - 1]
        if (found) return found
        await new Promise<void>((resolve) => void (onSetUp = resolve))
      }
    },
  }
}

async function keepEarlier(): Promise<void> {
  const half = await beginLayer(root)
  for (const file of Object.values(archivesIn(half))) await writeFile(file, '1234')
  const layer = { key: keyOf('before'), builtAt: 1_000, bytes: 8, commit: '' }
  await keepLayer({ root, path: testPath }, half, { projectId: projectId(1), ...layer })
}
const typesOf = (events: readonly ProjectEnvironmentEvent[]) => events.map(({ type }) => type)
const left = async () => (await readdir(join(root, 'environments'))).filter((name) => name.startsWith('.'))

test.each([
  { earlier: 'without an earlier one', usesEarlier: false },
  { earlier: 'with an earlier one', usesEarlier: true },
])(
  'one that was killed in its fetch is recorded as interrupted at the next start, $earlier',
  async ({ usesEarlier }) => {
    if (usesEarlier) await keepEarlier()
    const { rebuilds } = await open()
    expect(await rebuilds.begin(request)).toMatchObject({ kind: 'begun' })
    // The first process goes on meanwhile, as it has no way to know that it is dead.
    const { recorded } = await open()
    expect(recorded).toMatchObject([
      {
        type: 'ProjectEnvironmentFailed',
        data: { code: 'interrupted', usesEarlier },
        content: { reason: 'The server stopped before the setup came to its end.' },
      },
    ])
    expect((await open()).recorded).toEqual([])
  },
)

test.each([false, true])(
  'one that cannot begin says whether an earlier one is used: %s',
  async (usesEarlier) => {
    if (usesEarlier) await keepEarlier()
    const { rebuilds, recorded, setUp } = await open()
    await rebuilds.begin(request)
    const { end } = await setUp(1)
    end(failed('clone_failed', 'The host does not answer.'))
    await rebuilds.close()
    expect(recorded.at(-1)).toMatchObject({
      data: { code: 'interrupted', usesEarlier },
      content: { reason: 'The host does not answer.' },
    })
    expect(await readdir(join(root, 'environments'))).toHaveLength(usesEarlier ? 1 : 0)
  },
)

test('that of a deleted project is stopped, and records nothing more', async () => {
  const { rebuilds, running, recorded, setUp } = await open()
  await rebuilds.begin(request)
  await setUp(1)
  expect(rebuilds.projects()).toEqual([projectId(1)])
  await rebuilds.projectDeleted(projectId(1))
  expect(running[0]?.stop.reason()).toBe('deleted')
  expect(rebuilds.projects()).toEqual([])
  expect(typesOf(recorded)).toEqual(['ProjectEnvironmentStarted'])
  expect(await left()).toEqual([])
})

const changed = (locks: string) => ({ key: keyOf(locks), changed: ['package-lock.json'], usedAt: 5_000 })

test('changed lock files make one again in the background, which says why and is not counted as used', async () => {
  const { rebuilds, recorded, setUp } = await open({ changedLocks: async () => changed('one') })
  await rebuilds.repositoryChanged(request)
  const setup = await setUp(1)
  expect(setup.usedAt).toBe(5_000)
  expect(recorded).toMatchObject([
    {
      type: 'ProjectEnvironmentStarted',
      data: { trigger: 'lock_files' },
      content: { changed: ['package-lock.json'] },
    },
  ])
})

test('however often the repository changes, one waits for the end of another, and sees what is then there', async () => {
  let locks = 'one'
  const { rebuilds, running, setUp } = await open({ changedLocks: async () => changed(locks) })
  await rebuilds.repositoryChanged(request)
  const first = await setUp(1)
  for (locks of ['two', 'three', 'four']) await rebuilds.repositoryChanged(request)
  first.end()
  const second = await setUp(2)
  second.end()
  const third = setUp(3)
  locks = 'five'
  await rebuilds.repositoryChanged(request)
  await third
  expect(running).toHaveLength(3)
})

test('one that failed is not tried again until the lock files change', async () => {
  let locks = 'one'
  let looked = 0
  let onLook = (): void => undefined
  const { rebuilds, running, setUp } = await open({
    changedLocks: async () => {
      looked += 1
      onLook()
      return changed(locks)
    },
  })
  await rebuilds.repositoryChanged(request)
  const first = await setUp(1)
  first.end(failed('setup_failed', 'It fails.'))
  const again = new Promise<void>((resolve) => void (onLook = resolve))
  await rebuilds.repositoryChanged(request)
  await again
  locks = 'two'
  await rebuilds.repositoryChanged(request)
  await setUp(2)
  expect(running).toHaveLength(2)
  expect(looked).toBe(3)
})

test('without an environment that was used lately, nothing is fetched', async () => {
  const { rebuilds } = await open({
    isUsed: async () => false,
    changedLocks: async () => expect.unreachable(),
  })
  await rebuilds.repositoryChanged(request)
  expect(rebuilds.projects()).toEqual([])
})

test('a person whose project has one under way begins no other', async () => {
  const { rebuilds, running, setUp } = await open()
  const [one, other] = await Promise.all([rebuilds.begin(request), rebuilds.begin(request)])
  expect([one.kind, other.kind]).toEqual(['begun', 'begun'])
  await setUp(1)
  expect(running).toHaveLength(1)
})

test('a person with two projects begins one after the other, and another person meanwhile', async () => {
  const { rebuilds } = await open()
  const kinds = [
    await rebuilds.begin(request),
    await rebuilds.begin({ ...request, projectId: projectId(2) }),
    await rebuilds.begin({ projectId: projectId(3), ownerId: userId(2) }),
    await rebuilds.begin({ projectId: projectId(4), ownerId: userId(3) }),
  ].map(({ kind }) => kind)
  expect(kinds).toEqual(['begun', 'busy', 'begun', 'busy'])
})

test('what a person has begun keeps nothing of the background waiting while there is room', async () => {
  const { rebuilds, setUp } = await open({ changedLocks: async () => changed('one') })
  await rebuilds.begin(request)
  await setUp(1)
  await rebuilds.repositoryChanged({ ...request, projectId: projectId(2) })
  expect((await setUp(2)).projectId).toBe(projectId(2))
})
