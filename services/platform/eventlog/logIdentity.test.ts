/** A log is started once and keeps its id; events without the beginning of a log are refused. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { log as decider, type LogIdentity } from '#domain/log.ts'
import { notesOf } from '#domain/proof/sealNotes.ts'
import { logStream, taskStream } from '#domain/kernel/streams.ts'
import { TaskUpdated } from '#domain/task/events.ts'
import { taskId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { isDamaged, type LogRecord } from '#platform/ports/eventStore.ts'
import { UnusableEngine } from '#platform/ports/faults.ts'
import { emptyHead, eventLog } from './eventLog.ts'
import { commands } from '../commands/execute.ts'
import { openKnownLog, openLog } from './logIdentity.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const opening = () => openLog({ ...engines, commands: commands(engines.log) })

test('a log that is empty is begun by the first who opens it, and of several at once by one', async () => {
  const all = await Promise.all([opening(), opening(), opening()])
  expect(new Set(all.map(({ logId }) => logId)).size).toBe(1)
  expect(await opening()).toEqual({ logId: all[0].logId, epoch: 1 })
  expect(await engines.log.read(logStream, 0, 10)).toHaveLength(1)
})

const tree = { size: 1, root: '0'.repeat(64), signature: '0'.repeat(128), keyId: '0'.repeat(8) }
const seal = { ...tree, heads: { streams: 1, root: tree.root, signature: tree.signature } }

test('a restore begins another epoch of the same log', async () => {
  const { logId } = await opening()
  await engines.commands.execute(decider, logStream, { type: 'RestoreLog', epoch: 2, tree }, cause())
  expect(await opening()).toEqual({ logId, epoch: 2 })
})

test('events that no log began with are refused with a sentence', async () => {
  await engines.log.append(
    taskStream(taskId(1)),
    emptyHead,
    [TaskUpdated.of({}, { title: 'a', description: '' })],
    cause(),
  )
  await expect(opening()).rejects.toThrow(/holds a log in an early format/)
})

// Holds findings 1.79.
describe('recorder C1: of a log whose own stream is damaged', () => {
  const kinds: readonly (readonly [string, RegExp, (record: LogRecord) => readonly LogRecord[]])[] = [
    [
      'is not JSON',
      /is not JSON/,
      ({ stream, revision, position, type }) => [
        { damage: 'no_json', stream, revision, position, type, hash: null, beginning: '' },
      ],
    ],
    [
      'was changed',
      /was changed/,
      (record) => (isDamaged(record) ? [] : [{ ...record, data: { logId: taskId(7) } }]),
    ],
    ['is gone', /were removed from the log/, () => []],
  ]

  test.each(kinds)(
    'which %s, the identity is what the read models and the file of seals know',
    async (_kind, why, damage) => {
      const identity = await opening()
      const eventStore = {
        ...engines.eventStore,
        readStream: async (...asked: Parameters<typeof engines.eventStore.readStream>) =>
          (await engines.eventStore.readStream(...asked)).flatMap(damage),
      }
      const noted: string[] = []
      const opened = (catalog: LogIdentity | null, sealed: LogIdentity | null) =>
        openKnownLog({
          eventStore,
          commands: commands(eventLog({ ...engines, eventStore })),
          readStore: { catalog: async () => ({ ...(await engines.readStore.catalog()), log: catalog }) },
          sealsFile: {
            newest: async () =>
              sealed === null
                ? undefined
                : { revision: 3, at: '', ...notesOf(sealed.logId, { ...seal, epoch: sealed.epoch }) },
          },
          setAside: ({ message }) => void noted.push(message),
        })
      const logDamage = expect.stringMatching(why)
      expect(await opened({ ...identity, epoch: 4 }, identity)).toEqual({
        logIdentity: { ...identity, epoch: 4 },
        logDamage,
      })
      expect(await opened(null, identity)).toEqual({ logIdentity: identity, logDamage })
      expect(noted).toEqual([logDamage, logDamage])
    },
  )
})

test('an empty log beside read models of a log is refused, and begun where there are none', async () => {
  const catalog = await engines.readStore.catalog()
  const opened = (log: LogIdentity | null) =>
    openKnownLog({
      eventStore: engines.eventStore,
      commands: commands(engines.log),
      readStore: { catalog: async () => ({ ...catalog, log }) },
      sealsFile: { newest: async () => undefined },
      setAside: () => undefined,
    })
  const gone = { logId: taskId(7), epoch: 2 }
  await expect(opened(gone)).rejects.toThrow(UnusableEngine)
  await expect(opened(gone)).rejects.toThrow(`are those of log ${gone.logId}. Check EVENTSTORE_URL`)
  expect(await engines.eventStore.head()).toBeNull()
  const { logIdentity } = await opened(null)
  // The projector rebuilds read models of another log than the one that is there.
  expect(await opened(gone)).toEqual({ logIdentity, logDamage: null })
})
