/** The seals outside of the log are part of a backup: a restored log still matches them. */
import { randomUUID } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { TaskDeleted } from '#domain/task/events.ts'
import { openEngines, type Engines } from '#platform/compose.ts'
import { readConfig } from '#platform/config/config.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { logger } from '#platform/log.ts'
import { sealsFile } from '#platform/seals/sealsFile.ts'
import { startSealer } from '../maintenance/sealer.ts'
import { cause } from '../../tests/server/engines.ts'
import { backup, restore, type BackupWork } from './backup.ts'
import { operationOf } from './operatorCommands.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-backup-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const at = (...names: readonly string[]) => join(folder, ...names)
const configOf = (name: string, env: Readonly<Record<string, string>> = {}) =>
  readConfig({ DATA_DIR: at(name), ...env })
const workOn = (name: string, env?: Readonly<Record<string, string>>): BackupWork => ({
  config: configOf(name, env),
  logger: logger('silent'),
  digest: async (events) => events.map(digestsOf),
  progress: () => undefined,
})

async function withEngines<T>(name: string, use: (engines: Engines) => Promise<T>): Promise<T> {
  const engines = await openEngines(configOf(name), logger('silent'))
  try {
    return await use(engines)
  } finally {
    await engines.close()
  }
}

/** Appends an event and seals the log, `count` times. */
const sealed = (name: string, count: number, file = at(name, 'seals.ndjson')) =>
  withEngines(name, async (engines) => {
    const sealer = await startSealer(engines, { intervalMs: 3_600_000, file, tell: () => undefined })
    for (let round = 0; round < count; round += 1) {
      await engines.log.append(taskStream(randomUUID()), emptyHead, [TaskDeleted.of({})], cause())
      expect(await engines.rpc.call('seal', {}, 10_000)).toBeDefined()
    }
    await sealer.stop()
  })

/** The output of `verify` for the folder. */
const verified = (name: string, file = at(name, 'seals.ndjson')) =>
  withEngines(name, async (engines) => {
    const progress = () => undefined
    const answer = await operationOf(['verify'])?.({ ...engines, sealsFile: sealsFile(file), progress })
    return answer?.lines.join(' ')
  })
const linesOf = async (file: string) => (await readFile(file, 'utf8')).trimEnd().split('\n')

test('a backup has the file of seals, and what is restored holds against it and is sealed on', async () => {
  await sealed('data', 3)
  const before = await linesOf(at('data', 'seals.ndjson'))
  const answer = await backup(at('copy'), true, workOn('data'))
  expect(answer.lines.join(' ')).toContain(`${before.length} seals;`)
  await sealed('data', 2)
  const restored = await restore(at('copy'), workOn('again'))
  expect(restored.lines.join(' ')).toMatch(/and whole/)
  expect(await linesOf(at('again', 'seals.ndjson'))).toEqual(before)
  expect(await verified('again')).toMatch(/The log is whole: .* seals hold/)
  await sealed('again', 1)
  expect((await linesOf(at('again', 'seals.ndjson'))).slice(0, before.length)).toEqual(before)
  expect(await verified('again')).toMatch(/The log is whole: .* seals hold/)
})

test('a file of seals in another place goes along, and one that is still there stays as it is', async () => {
  const env = { SEALS_FILE: at('elsewhere', 'seals.ndjson') }
  await sealed('data', 2, env.SEALS_FILE)
  const before = await linesOf(env.SEALS_FILE)
  await backup(at('copy'), true, workOn('data', env))
  expect(await linesOf(at('copy', 'seals.ndjson'))).toEqual(before)
  await sealed('data', 1, env.SEALS_FILE)
  const there = await restore(at('copy'), workOn('again', env))
  expect(there.lines.join(' ')).toMatch(/seals in .*elsewhere.* are left as they are/)
  expect(await linesOf(env.SEALS_FILE)).toHaveLength(before.length + 1)
  expect(await verified('again', env.SEALS_FILE)).toMatch(/The log is whole/)
  await rm(env.SEALS_FILE)
  const gone = await restore(at('copy'), workOn('third', env))
  expect(gone.lines.join(' ')).toMatch(/seals of the backup are in .*elsewhere/)
  expect(await linesOf(env.SEALS_FILE)).toEqual(before)
})

test('a backup that is restored twice begins another epoch each time, and is whole', async () => {
  const env = { SEALS_FILE: at('elsewhere', 'seals.ndjson') }
  await sealed('data', 2, env.SEALS_FILE)
  await backup(at('copy'), true, workOn('data', env))
  await restore(at('copy'), workOn('again', env))
  await sealed('again', 1, env.SEALS_FILE)
  await restore(at('copy'), workOn('third', env))
  expect(await withEngines('third', async ({ logIdentity }) => logIdentity.epoch)).toBe(3)
  await sealed('third', 1, env.SEALS_FILE)
  expect(await verified('third', env.SEALS_FILE)).toMatch(/The log is whole/)
})

test('a file of seals that has another name in the data folder is restored under this name', async () => {
  const env = (name: string) => ({ SEALS_FILE: at(name, 'witness', 'signed.ndjson') })
  await sealed('data', 2, env('data').SEALS_FILE)
  const before = await linesOf(env('data').SEALS_FILE)
  await backup(at('copy'), true, workOn('data', env('data')))
  await restore(at('copy'), workOn('again', env('again')))
  expect(await linesOf(env('again').SEALS_FILE)).toEqual(before)
  expect(await verified('again', env('again').SEALS_FILE)).toMatch(/The log is whole: .* seals hold/)
})

test('a backup of a log that its seals contradict is made, and says so', async () => {
  await sealed('data', 2)
  const file = at('data', 'seals.ndjson')
  const last = JSON.parse((await linesOf(file)).at(-1) ?? '')
  await appendFile(file, `${JSON.stringify({ ...last, revision: 7 })}\n`)
  const { failed, lines } = await backup(at('copy'), true, workOn('data'))
  expect(failed).toBe(true)
  expect(lines.slice(0, 2)).toEqual([
    expect.stringContaining('seal-1 @ 7 was written outside'),
    expect.stringMatching(/is at .*, and not whole/),
  ])
})

test('without a file of seals, or with a torn one, a backup is made as before; one that was changed is refused', async () => {
  await sealed('data', 2)
  const file = at('data', 'seals.ndjson')
  const { length } = await readFile(file)
  await truncate(file, length - 40)
  expect((await backup(at('torn'), true, workOn('data'))).failed).toBeUndefined()
  await rm(file)
  expect((await backup(at('none'), true, workOn('data'))).failed).toBeUndefined()
  expect((await restore(at('none'), workOn('again'))).failed).toBeUndefined()
  expect(await verified('again')).toMatch(/The log is whole.*No seal was found outside of the log/)
  await writeFile(at('torn', 'seals.ndjson'), '')
  await expect(restore(at('torn'), workOn('third'))).rejects.toThrow(/Changed since: seals.ndjson/)
})
