/** The sealer seals the whole log, also in a file, and refuses to seal a log that no longer begins with the events of an earlier seal. */
import { randomUUID } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sealStream, taskStream } from '#domain/kernel/streams.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { LogBegun, LogRestored } from '#domain/log.ts'
import { hexOf, leafOf, originOf } from '#domain/proof/bundleHashes.ts'
import { parseCheckpoint, parseNote } from '#domain/proof/checkpoint.ts'
import { append, emptyFrontier, leafHash, rootOf } from '#domain/proof/merkleTree.ts'
import { headLeaf, signedCheckpoint } from '#domain/proof/sealNotes.ts'
import { TaskDeleted } from '#domain/task/events.ts'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { intact, type EventStore } from '#platform/ports/eventStore.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { gitPlace } from '#platform/seals/gitPlace.ts'
import { newestSeal } from '#platform/seals/recordedSeals.ts'
import type { SecondPlace } from '#platform/seals/secondPlaces.ts'
import { witness } from '#platform/seals/witness.ts'
import { sealsFile } from '#platform/seals/sealsFile.ts'
import { sealCollections, sealHeads } from '#platform/seals/sealTrees.ts'
import { rootAt } from '#platform/seals/storedProofs.ts'
import { replaceSigningKey, signingKeys } from '#platform/seals/signingKeys.ts'
import type { Observation } from '#platform/telemetry/telemetry.ts'
import { run } from '#platform/childProcess.ts'
import { startWitness } from '../../tests/standins/witness.ts'
import { cause, eventually, openTestEngines, testLog, type TestEngines } from '../../tests/server/engines.ts'
import { startSealer, type SealerEngines } from './sealer.ts'

let engines: TestEngines
let rpc: Rpc
let folder: string
let file: string
beforeEach(async () => {
  engines = await openTestEngines()
  rpc = openInProcessRpc({ onFault: () => undefined })
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-seals-'))
  file = join(folder, 'seals.ndjson')
  await engines.log.append('log-main', emptyHead, [LogBegun.of({ logId: testLog.logId })], cause())
})
afterEach(async () => {
  await engines.close()
  await rm(folder, { recursive: true, force: true })
})

const hour = 3_600_000
/** Appends an event to the stream of a new task. Returns the stream. */
const happens = async () => {
  const stream = taskStream(randomUUID())
  await engines.log.append(stream, emptyHead, [TaskDeleted.of({})], cause())
  return stream
}
const everything = async () => intact(await engines.eventStore.readAll(null, 10_000))

interface Told {
  readonly sentences: string[]
  readonly observed: Observation[]
}

async function withSealer<T>(
  use: (told: Told) => Promise<T>,
  changed: Partial<SealerEngines> = {},
  intervalMs = hour,
  places: readonly SecondPlace[] = [],
): Promise<T> {
  const told: Told = { sentences: [], observed: [] }
  const sealer = await startSealer(
    { ...engines, rpc, ...changed, emit: (each) => void told.observed.push(each) },
    { intervalMs, file, places, tell: (sentences) => void told.sentences.push(...sentences) },
  )
  try {
    return await use(told)
  } finally {
    await sealer.stop()
  }
}

/** Requests a seal over the whole log. Returns its revision; `undefined` when nothing was sealed. */
async function sealed(within = 5_000): Promise<number | undefined> {
  return (await rpc.call('seal', {}, within))?.revision
}

/** Checks the newest seal in the file against the log, with no more than the algorithms of RFC 6962. */
async function outsideHolds(identity = testLog): Promise<number> {
  const newest = await sealsFile(file).newest()
  const keys = await signingKeys(engines.vault, identity)
  const log = signedCheckpoint(cryptography, newest?.checkpoint ?? '', keys?.verifiers ?? [])?.checkpoint
  const heads = signedCheckpoint(cryptography, newest?.heads ?? '', keys?.verifiers ?? [])?.checkpoint
  const { sha256 } = cryptography
  const rootOver = (leaves: readonly Uint8Array[]) =>
    rootOf(
      sha256,
      leaves.reduce((frontier, leaf) => append(sha256, frontier, leafHash(sha256, leaf)), emptyFrontier),
    )
  const events = (await everything()).slice(0, log?.size)
  expect(log?.root).toEqual(rootOver(events.map(({ meta }) => leafOf(meta.hash))))
  const ends = new Map<string, StoredEvent>()
  for (const event of events) ends.set(event.stream, event)
  expect(heads).toMatchObject({ size: ends.size, origin: `${log?.origin}/heads/${log?.size}` })
  expect(heads?.root).toEqual(
    rootOver(
      [...ends.values()].map(({ stream, revision, meta: { hash } }) =>
        headLeaf(cryptography, { stream, revision, hash }),
      ),
    ),
  )
  return log?.size ?? 0
}

test('a seal is over every event of the log and over the end of every stream, signed, in the log and outside', () =>
  withSealer(async () => {
    for (let count = 0; count < 600; count += 1) await happens()
    const revision = await sealed()
    const [event] = await engines.log.readBackwards(sealStream(1), 'end', 1)
    expect(event).toMatchObject({ type: 'LogSealed', revision, data: { epoch: 1 } })
    expect(await outsideHolds()).toBeGreaterThan(600)
  }))

test('a log whose trees were only half removed is sealed, since they are computed again', async () => {
  const first = await happens()
  await withSealer(async () => {
    for (let count = 0; count < 3; count += 1) await happens()
    await sealed()
  })
  const position = (await engines.eventStore.head()) ?? ''
  await engines.readStore.apply([{ kind: 'remove', collection: sealHeads.name, id: first, position }], null)
  await happens()
  await withSealer(async () => {
    expect(await sealed()).toBeDefined()
    expect(await outsideHolds()).toBeGreaterThan(5)
  })
})

test('nothing is sealed when nothing but a seal happened, also after a restart', async () => {
  await happens()
  await withSealer(async () => void (await sealed()), {}, 20)
  const before = (await everything()).length
  for (let start = 0; start < 3; start += 1)
    await withSealer(
      async () => {
        await sealed()
        await new Promise((resolve) => {
          setTimeout(resolve, 100)
        })
      },
      {},
      20,
    )
  expect(await everything()).toHaveLength(before)
})

test('what was sealed can be proven until something else happens, however often somebody asks for a seal', async () => {
  await happens()
  const provable = async () => {
    const seal = await newestSeal(engines.eventStore, testLog)
    const root = await rootAt(engines.readStore, 'heads', seal?.seal.heads.streams ?? 0)
    return { revision: seal?.revision, isProvable: hexOf(root ?? new Uint8Array()) === seal?.seal.heads.root }
  }
  await withSealer(async () => {
    await sealed()
    await happens()
    const revision = await sealed()
    for (let ask = 0; ask < 3; ask += 1) {
      expect(await sealed()).toBe(revision)
      expect(await provable()).toEqual({ revision, isProvable: true })
    }
  })
  await withSealer(async () => {
    const revision = await sealed()
    expect(await provable()).toEqual({ revision, isProvable: true })
    await happens()
    const next = await sealed()
    expect(next).toBeGreaterThan(revision ?? 0)
    expect(await provable()).toEqual({ revision: next, isProvable: true })
    // Fills the log so that the next seal is the last record of a page.
    while ((await everything()).length < 499) await happens()
    await sealed()
  })
  await engines.readStore.drop(sealCollections.map(({ name }) => name))
  await withSealer(async () => {
    const revision = await sealed()
    expect(await everything()).toHaveLength(500)
    expect(await provable()).toEqual({ revision, isProvable: true })
  })
})

test('a restart goes on from the stored trees, and has the same roots as one that reads the log anew', async () => {
  for (let start = 0; start < 4; start += 1) {
    for (let count = 0; count < 150; count += 1) await happens()
    let read = 0
    const counting: Pick<EventStore, 'readAll' | 'readStream'> = {
      readStream: engines.eventStore.readStream,
      readAll: async (...asked) => {
        const events = await engines.eventStore.readAll(...asked)
        read += events.length
        return events
      },
    }
    await withSealer(async () => void (await sealed()), { eventStore: counting })
    expect(await outsideHolds()).toBeGreaterThan(150 * (start + 1))
    expect(read).toBeLessThan(160)
  }
  // Without the read models, the trees are computed again, and fit the earlier seals.
  await engines.readStore.drop(sealCollections.map(({ name }) => name))
  await happens()
  await withSealer(async (told) => {
    await sealed()
    expect(told.sentences).toEqual([])
  })
  await outsideHolds()
})

test('killed between the log and the file: the next start writes what is missing outside, whole', async () => {
  await happens()
  await withSealer(async () => void (await sealed()))
  await happens()
  await withSealer(async () => void (await sealed()))
  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  expect(lines).toHaveLength(2)
  for (const kept of [0, lines[0]?.length ?? 0, (lines[0]?.length ?? 0) + 40]) {
    await truncate(file, kept)
    await withSealer(async (told) => {
      await sealed()
      expect(told.sentences).toEqual([])
    })
    const revisions: (number | undefined)[] = []
    for await (const { seal } of sealsFile(file).all()) revisions.push(seal?.revision)
    expect(revisions.filter((revision) => revision !== undefined)).toEqual([0, 1])
  }
  await outsideHolds()
})

/** Runs a sealer on a log that somebody has changed in the database, where the stored trees are missing too. Returns its sentences. */
async function withChanged(
  change: (events: readonly StoredEvent[]) => readonly StoredEvent[],
  places: readonly SecondPlace[] = [],
) {
  const events = change(await everything())
  await engines.readStore.drop(sealCollections.map(({ name }) => name))
  const changed: Pick<EventStore, 'readAll' | 'readStream'> = {
    readAll: async (after, limit) =>
      events.filter(({ position }) => after === null || Number(position) > Number(after)).slice(0, limit),
    readStream: async (stream, { from, direction, limit }) => {
      const ofStream = events.filter((event) => event.stream === stream)
      return direction === 'backwards'
        ? ofStream.toReversed().slice(0, limit)
        : ofStream.filter(({ revision }) => from !== 'end' && revision >= from).slice(0, limit)
    },
  }
  return withSealer(
    async (told) => {
      await eventually('the sealer said something', () => told.sentences.length > 0)
      expect(await sealed(500)).toBeUndefined()
      expect(told.observed).toContainEqual({
        kind: 'sealer',
        state: expect.objectContaining({ refused: true }),
      })
      return told.sentences.join(' ')
    },
    { eventStore: changed },
    hour,
    places,
  )
}

test('a log that is not what was sealed is not sealed again, and the operator is told', async () => {
  for (let count = 0; count < 20; count += 1) await happens()
  await withSealer(async () => void (await sealed()))
  const seals = await readFile(file, 'utf8')
  const withoutSeals = (events: readonly StoredEvent[]) =>
    events.filter(({ stream }) => !stream.startsWith('seal-'))
  expect(await withChanged((events) => withoutSeals(events).slice(0, 15))).toMatch(/its end is missing/)
  expect(await withChanged((events) => withoutSeals(events).toSpliced(7, 1))).toMatch(/its end is missing/)
  expect(
    await withChanged((events) => {
      const [one, two] = [events[5], events[9]]
      return one && two ? events.with(5, { ...two, position: one.position }) : events
    }),
  ).toMatch(/they were changed/)
  // A refusal leaves the file of seals as it is.
  expect(await readFile(file, 'utf8')).toBe(seals)
})

test('a seal outside that no key of the log signed, or that cannot be one, stops sealing', async () => {
  await happens()
  await withSealer(async () => void (await sealed()))
  const [line = ''] = (await readFile(file, 'utf8')).split('\n')
  const seal: { checkpoint: string } = JSON.parse(line)
  const note = parseNote(seal.checkpoint)
  const forged = seal.checkpoint.replace(/.{8}\n$/, 'AAAAAAA=\n')
  expect(parseCheckpoint(note?.text ?? '')).toBeDefined()
  await appendFile(file, `${JSON.stringify({ ...seal, checkpoint: forged })}\n`)
  expect(await withChanged((events) => events)).toMatch(/not signed by a key of this log|cannot be read/)
  const other = seal.checkpoint.replace(testLog.logId, randomUUID())
  await writeFile(file, `${JSON.stringify({ ...seal, checkpoint: other })}\n`)
  expect(await withChanged((events) => events)).toMatch(/is of another log/)
})

test('a log that was put back from a copy is sealed again in its next epoch, and not before', async () => {
  await happens()
  await withSealer(async () => void (await sealed()))
  const copy = await everything()
  for (let count = 0; count < 5; count += 1) await happens()
  await withSealer(async () => void (await sealed()))
  expect(await withChanged(() => copy)).toMatch(/npm start -- restored/)
  const head = await engines.log.headOf('log-main')
  await engines.log.append('log-main', head, [LogRestored.of({ epoch: 2, tree: null })], cause())
  // The process that still seals the old epoch signs nothing more.
  await withSealer(async (told) => {
    expect(await sealed(500)).toBeUndefined()
    expect(told.sentences.join()).toMatch(/epoch 2/)
  })
  const next = { ...testLog, epoch: 2 }
  await withSealer(
    async (told) => {
      expect(await sealed()).toBe(0)
      expect(told.sentences).toEqual([])
    },
    { logIdentity: next },
  )
  expect(await outsideHolds(next)).toBeGreaterThan(5)
})

test('a key that replaces another signs from then on, and the other is still known', async () => {
  await happens()
  await withSealer(async () => void (await sealed()))
  const [old] = (await signingKeys(engines.vault, testLog))?.vkeys ?? []
  await replaceSigningKey(engines.vault, testLog, engines.clock)
  await happens()
  await withSealer(async (told) => {
    await sealed()
    expect(told.sentences).toEqual([])
  })
  const keys = await signingKeys(engines.vault, testLog)
  expect(keys?.vkeys).toHaveLength(2)
  expect(keys?.vkeys[1]).toBe(old)
  const newest = await sealsFile(file).newest()
  expect(
    signedCheckpoint(cryptography, newest?.checkpoint ?? '', keys?.verifiers.slice(0, 1) ?? []),
  ).toBeDefined()
  await outsideHolds()
})

describe('second places', () => {
  /**
   * Puts the log and the file of seals back to before the last seal, so that only a second place still has that seal. Returns the sentences of the
   * next sealer.
   */
  async function putBack(places: () => readonly SecondPlace[]): Promise<string> {
    await happens()
    await withSealer(async () => void (await sealed()), {}, hour, places())
    const [copy, seals] = [await everything(), await readFile(file, 'utf8')]
    await happens()
    await withSealer(async () => void (await sealed()), {}, hour, places())
    await writeFile(file, seals)
    return withChanged(() => copy, places())
  }

  test('a git repository gets a commit for each seal, and stops a log that was put back together with its file', async () => {
    const repository = join(folder, 'remote.git')
    const git = async (...args: readonly string[]) => {
      const env = { PATH: process.env['PATH'] ?? '' }
      const done = await run('git', args, { env, timeoutMs: 10_000, maxOutputBytes: 100_000 })
      return done.stdout.toString('utf8')
    }
    await git('init', '--quiet', '--bare', repository)
    const place = () => [
      gitPlace({ repository, folder: join(folder, 'own.git'), environment: { PATH: process.env['PATH'] } }),
    ]
    expect(await putBack(place)).toMatch(/in the git repository.* its end is missing/)
    const branch = `seals-${testLog.logId}`
    expect((await git('--git-dir', repository, 'log', '--format=%s', branch)).trim().split('\n')).toEqual([
      expect.stringMatching(/^Seal 1 over \d+ events/),
      expect.stringMatching(/^Seal 0 over \d+ events/),
    ])
    const keys = await signingKeys(engines.vault, testLog)
    const note = await git('--git-dir', repository, 'show', `${branch}:checkpoint`)
    expect(signedCheckpoint(cryptography, note, keys?.verifiers ?? [])).toBeDefined()
  })

  test('a witness cosigns each seal, which the file keeps, and stops a log that was put back together with its file', async () => {
    const standIn = await startWitness(
      async () => (await signingKeys(engines.vault, testLog))?.verifiers ?? [],
    )
    try {
      expect(await putBack(() => [witness(standIn.url)])).toMatch(/The witness has seen \d+ events/)
      // A new process does not know which size the witness has seen, and learns it from an answer 409.
      expect(standIn.answers).toEqual([200, 409, 200, 200, 409])
      expect(standIn.seen(originOf(testLog))?.size).toBeGreaterThan(2)
      expect(await readFile(file, 'utf8')).toContain('witness.example')
    } finally {
      await standIn.close()
    }
  })

  test('one that cannot be reached holds nothing up', async () => {
    await happens()
    const places = [
      witness('http://127.0.0.1:9'),
      gitPlace({
        repository: join(folder, 'none'),
        folder: join(folder, 'own.git'),
        environment: { PATH: process.env['PATH'] },
      }),
    ]
    await withSealer(
      async (told) => {
        expect(await sealed()).toBe(0)
        expect(told.sentences).toEqual([])
      },
      {},
      hour,
      places,
    )
    await outsideHolds()
  })
})
