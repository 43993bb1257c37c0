/** A backup of a data folder that is written to meanwhile, and the data folder that is restored from it. */
import { randomUUID } from 'node:crypto'
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { taskStream, userStream } from '#domain/kernel/streams.ts'
import { OnboardingCompleted } from '#domain/user/events.ts'
import { WorkspaceChanged } from '#domain/task/events.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'
import { emptyHead, type Head } from '#platform/eventlog/eventLog.ts'
import { openEngines, type Engines } from '#platform/compose.ts'
import { readConfig } from '#platform/config/config.ts'
import { logger } from '#platform/log.ts'
import { lockFile } from '#platform/engines/sqlite.ts'
import { cause } from '../../tests/server/engines.ts'
import { executionId, taskId, userId } from '../../tests/domain/ids.ts'
import { backup, restore, type BackupWork } from './backup.ts'

let folder = ''
let engines: Engines
let head: Head = emptyHead
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-backup-'))
  engines = await openEngines(configOf('data'), logger('silent'))
  head = emptyHead
})
afterEach(async () => {
  await engines.close()
  await rm(folder, { recursive: true, force: true })
})

const at = (...names: readonly string[]) => join(folder, ...names)
const configOf = (name: string, env: Readonly<Record<string, string>> = {}) =>
  readConfig({ DATA_DIR: at(name), ...env })
const workOn = (name: string, env?: Readonly<Record<string, string>>): BackupWork => ({
  config: configOf(name, env),
  logger: logger('silent'),
  digest: async (events) => events.map(digestsOf),
  progress: () => undefined,
})
const stream = userStream(userId(1))

async function write(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const event = OnboardingCompleted.of(
      { companySize: 'solo', role: 'developer' },
      { fullName: `Ada ${n}`, email: null },
    )
    const result = await engines.log.append(stream, head, [event], cause())
    if (result.kind === 'conflict') throw new Error('Nobody else writes here.')
    head = result.head
  }
}

/** Stores a blob and appends an event of task `n` that names it. */
async function writeBlob(n: number): Promise<string> {
  const scope = `task:${taskId(n)}`
  const blob = await engines.blobs.put(scope, Buffer.from('a diff of some length'))
  const facts = {
    executionId: executionId(1),
    files: 1,
    additions: 1,
    deletions: 0,
    ahead: 0,
    behind: 0,
    truncated: false,
    blob,
  }
  const content = { currentBranch: 'main', baseBranch: 'main', tree: null }
  await engines.log.append(taskStream(taskId(n)), emptyHead, [WorkspaceChanged.of(facts, content)], cause())
  return blob.hash
}
const fileOf = (root: string, hash: string) => at(root, 'blobs', hash.slice(0, 2), hash.slice(2, 4), hash)

const refusal = (doing: Promise<unknown>) =>
  doing.then(
    () => 'It was not refused.',
    (fault: unknown) => (fault instanceof Error ? fault.message : String(fault)),
  )

/** Makes a backup in `copy` that contains the master key, so that it can be opened. */
async function copied(): Promise<void> {
  expect((await backup(at('copy'), true, workOn('data'))).failed).toBeUndefined()
}

describe('a backup', () => {
  test('that is made while the log is written is whole, and what is made of it is the same log in its next epoch', async () => {
    await write(300)
    const hash = await writeBlob(1)
    const writing = write(200)
    const answer = await backup(at('copy'), true, workOn('data'))
    await writing
    expect(answer.lines[0]).toMatch(/is at .*copy, and whole: \d+ events in 3 streams, 1 blobs/)
    expect((await readdir(at('copy'))).toSorted()).toEqual([
      'blobs',
      'codehost',
      'events.sqlite',
      'manifest.json',
      'master.key',
      'vault.sqlite',
    ])
    for (const name of await readdir(at('copy'))) expect((await stat(at('copy', name))).mode & 0o077).toBe(0)

    const restored = await restore(at('copy'), workOn('new'))
    expect(restored.failed).toBeUndefined()
    const before = engines.logIdentity
    const other = await openEngines(configOf('new'), logger('silent'))
    try {
      expect(other.logIdentity).toEqual({ logId: before.logId, epoch: before.epoch + 1 })
      const events = await other.log.read(stream, 0, 1_000)
      expect(events.length).toBeGreaterThanOrEqual(300)
      const [first] = events
      expect(first?.content).toEqual({ fullName: 'Ada 0', email: null })
      expect((await stat(fileOf('new', hash))).isFile()).toBe(true)
    } finally {
      await other.close()
    }
    expect(await readdir(folder)).toEqual(['copy', 'data', 'new'])
  })

  // Holds findings 1.111.
  test('security L1: without the master key has no private key of the local code host either', async () => {
    await mkdir(at('data', 'codehost'))
    await writeFile(at('data', 'codehost', 'code-host.json'), '{}')
    await writeFile(at('data', 'codehost', 'app.private-key.pem'), 'a private key')
    await backup(at('without'), false, workOn('data'))
    expect(await readdir(at('without', 'codehost'))).toEqual(['code-host.json'])
    await backup(at('with'), true, workOn('data'))
    expect(await readFile(at('with', 'codehost', 'app.private-key.pem'), 'utf8')).toBe('a private key')
  })

  test('has no key where none is asked for, and none of its words stands in what is said', async () => {
    await write(5)
    const { lines } = await backup(at('copy'), false, workOn('data'))
    expect(await readdir(at('copy'))).not.toContain('master.key')
    expect(lines.join('\n')).toMatch(/does not contain the master key/)
    const key = (await readFile(at('data', 'master.key'), 'utf8')).trim()
    expect([lines.join(), await readFile(at('copy', 'manifest.json'), 'utf8')].join()).not.toContain(key)

    expect(await refusal(restore(at('copy'), workOn('new')))).toMatch(/master key is not in the backup/)
    await mkdir(at('new'))
    await writeFile(at('new', 'master.key'), key, { mode: 0o600 })
    expect((await restore(at('copy'), workOn('new'))).failed).toBeUndefined()
    expect((await restore(at('copy'), workOn('newer', { MASTER_KEY: key }))).failed).toBeUndefined()
    expect(await readdir(at('newer'))).not.toContain('master.key')
  })

  test.each([
    ['in the data folder', 'data/copy', /must not be inside each other/],
    ['around the data folder', '.', /must not be inside each other/],
    ['behind a link into the data folder', 'link/copy', /must not be inside each other/],
    ['where something is', 'full', /is not empty/],
    ['where a file is', 'file', /is no folder/],
  ])('is not made %s', async (_, name, why) => {
    await mkdir(at('full/of'), { recursive: true })
    await writeFile(at('file'), 'x')
    await symlink(at('data'), at('link'))
    const before = (await readdir(folder)).toSorted()
    expect(await refusal(backup(at(name), false, workOn('data')))).toMatch(why)
    expect((await readdir(folder)).toSorted()).toEqual(before)
  })

  test('is not made twice at once, nor of what is no data folder, nor of shared engines', async () => {
    const release = lockFile(at('.copy.flightdeck-lock'))
    expect(await refusal(backup(at('copy'), false, workOn('data')))).toMatch(/is under way/)
    release?.()
    expect(await refusal(backup(at('other'), false, workOn('nothing')))).toMatch(/no data folder/)
    const shared = workOn('data', { EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' })
    expect(await refusal(backup(at('other'), false, shared))).toMatch(/operating\/backup\.md/)
    expect(await readdir(folder)).not.toContain('other')
  })

  test('takes the place of what a killed one left', async () => {
    await write(1)
    await mkdir(at('.copy.flightdeck-part'))
    await writeFile(at('.copy.flightdeck-part', 'events.sqlite'), 'half')
    // A person's own folder, whose name ends like that of a temporary folder of ours.
    await mkdir(at('copy.before'))
    await copied()
    expect((await readdir(folder)).toSorted()).toEqual(['copy', 'copy.before', 'data'])
  })

  test('of a log that lost a blob is made, and says which; one that was erased is not missed', async () => {
    const lost = await writeBlob(1)
    const erased = await writeBlob(2)
    await unlink(fileOf('data', erased))
    await engines.vault.destroy(`task:${taskId(2)}`)
    await copied()
    await rm(at('copy'), { recursive: true })
    await unlink(fileOf('data', lost))
    const answer = await backup(at('copy'), false, workOn('data'))
    expect(answer.failed).toBe(true)
    expect(answer.lines.slice(0, 2)).toEqual([
      expect.stringMatching(
        `^The blob ${lost} of ${taskStream(taskId(1))} @ \\d+ is not there: it was removed\\.$`,
      ),
      expect.stringContaining('and not whole'),
    ])
    await rm(at('copy'), { recursive: true })
    await backup(at('copy'), true, workOn('data'))
    const restored = await restore(at('copy'), workOn('new'))
    expect(restored).toMatchObject({ failed: true })
    expect(restored.lines[0]).toContain(lost)
    const other = await openEngines(configOf('new'), logger('silent'))
    expect(other.logIdentity.epoch).toBe(2)
    await other.close()
    expect((await readdir(folder)).toSorted()).toEqual(['copy', 'data', 'new'])
  })
})

describe('of a backup', () => {
  test.each<readonly [string, () => Promise<unknown>, RegExp]>([
    [
      'whose log was changed',
      async () => writeFile(at('copy', 'events.sqlite'), 'x', { flag: 'a' }),
      /events\.sqlite/,
    ],
    [
      'whose blob was changed',
      async () => {
        const hash =
          (await readdir(at('copy', 'blobs'), { recursive: true })).find((name) => name.length > 60) ?? ''
        await writeFile(at('copy', 'blobs', hash), 'another')
      },
      /blobs/,
    ],
    ['to which something was added', async () => writeFile(at('copy', 'codehost', 'more'), 'x'), /codehost/],
    ['that lost its vault', async () => unlink(at('copy', 'vault.sqlite')), /vault\.sqlite|ENOENT/],
    ['without a manifest', async () => unlink(at('copy', 'manifest.json')), /no backup at/],
    [
      'of a later format',
      async () => {
        const text = await readFile(at('copy', 'manifest.json'), 'utf8')
        await writeFile(at('copy', 'manifest.json'), text.replace('"format": 1', '"format": 2'))
      },
      /not one that this Flightdeck reads/,
    ],
    [
      'whose manifest leads elsewhere',
      async () => {
        const text = await readFile(at('copy', 'manifest.json'), 'utf8')
        await writeFile(at('copy', 'manifest.json'), text.replace('"master.key"', '"../secret"'))
      },
      /not one that this Flightdeck reads/,
    ],
  ])('%s nothing is made', async (_, change, why) => {
    await write(3)
    await writeBlob(1)
    await copied()
    await change()
    expect(await refusal(restore(at('copy'), workOn('new')))).toMatch(why)
    expect((await readdir(folder)).toSorted()).toEqual(['copy', 'data'])
  })

  test('nothing is made with another master key, and what stood there is as it was', async () => {
    await write(3)
    await backup(at('copy'), false, workOn('data'))
    await mkdir(at('new'))
    const other = `${Buffer.from(randomUUID().padEnd(32, 'x').slice(0, 32)).toString('base64')}\n`
    await writeFile(at('new', 'master.key'), other)
    await chmod(at('new', 'master.key'), 0o600)
    expect(await refusal(restore(at('copy'), workOn('new')))).toMatch(/master key/i)
    expect(await readFile(at('new', 'master.key'), 'utf8')).toBe(other)
    expect((await readdir(folder)).toSorted()).toEqual(['copy', 'data', 'new'])
  })

  test('nothing is made where another key lies than the one that it has', async () => {
    await write(1)
    await copied()
    await mkdir(at('new'))
    await writeFile(at('new', 'master.key'), 'another', { mode: 0o600 })
    expect(await refusal(restore(at('copy'), workOn('new')))).toMatch(/is not the master key/)
    expect(await readFile(at('new', 'master.key'), 'utf8')).toBe('another')
  })

  test('a key that lies at the target stays, also where MASTER_KEY is given', async () => {
    await write(1)
    await backup(at('copy'), false, workOn('data'))
    await mkdir(at('new'))
    await writeFile(at('new', 'master.key'), 'another', { mode: 0o600 })
    const given = (await readFile(at('data', 'master.key'), 'utf8')).trim()
    const work = workOn('new')
    const { lines } = await restore(at('copy'), { ...work, config: { ...work.config, masterKey: given } })
    expect(lines.join(' ')).toContain('and whole')
    expect((await readFile(at('new', 'master.key'), 'utf8')).trim()).toBe('another')
  })

  test('nothing is made over a data folder', async () => {
    await write(1)
    await copied()
    expect(await refusal(restore(at('copy'), workOn('data')))).toMatch(/is not empty/)
  })
})
