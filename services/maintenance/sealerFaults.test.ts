/** Faults around the sealer: two sealers at once, truncated files, clocks that go back, second places that fail. */
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { sealStream, taskStream } from '#domain/kernel/streams.ts'
import { LogBegun } from '#domain/log.ts'
import { TaskDeleted } from '#domain/task/events.ts'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { readConfig } from '#platform/config/config.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'
import { emptyHead, eventLog } from '#platform/eventlog/eventLog.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { LogSealed } from '#domain/seal.ts'
import { isDamaged, type EventStore } from '#platform/ports/eventStore.ts'
import { readableSeal } from '#platform/seals/recordedSeals.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import { sealsFile } from '#platform/seals/sealsFile.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'
import type { SecondPlace } from '#platform/seals/secondPlaces.ts'
import { witness } from '#platform/seals/witness.ts'
import { verifyLog } from '#platform/verify/verify.ts'
import { startWitness } from '../../tests/standins/witness.ts'
import { cause, openTestEngines, testLog, type TestEngines } from '../../tests/server/engines.ts'
import { startSealer, type SealerEngines } from './sealer.ts'

let engines: TestEngines
let folder: string
let file: string
beforeEach(async () => {
  engines = await openTestEngines()
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-seals-'))
  file = join(folder, 'seals.ndjson')
  await engines.log.append('log-main', emptyHead, [LogBegun.of({ logId: testLog.logId })], cause())
})
afterEach(async () => {
  await engines.close()
  await rm(folder, { recursive: true, force: true })
})

const happens = () => engines.log.append(taskStream(randomUUID()), emptyHead, [TaskDeleted.of({})], cause())

interface Started {
  readonly rpc: Rpc
  readonly told: string[]
  readonly warnings: unknown[]
  /** Requests a seal over the whole log. Returns its revision. */
  seal(): Promise<number | undefined>
  stop(): Promise<void>
}

async function start(
  places: readonly SecondPlace[] = [],
  changed: Partial<SealerEngines> = {},
): Promise<Started> {
  const rpc = openInProcessRpc({ onFault: () => undefined })
  const [told, warnings]: [string[], unknown[]] = [[], []]
  const warn = (...said: unknown[]) => void warnings.push(said)
  const logger = Object.assign(Object.create(engines.logger), { warn, error: warn })
  const tell = (sentences: readonly string[]) => void told.push(...sentences)
  const sealer = await startSealer(
    { ...engines, rpc, logger, ...changed },
    { intervalMs: 3_600_000, file, places, tell },
  )
  return {
    rpc,
    told,
    warnings,
    seal: async () => (await rpc.call('seal', {}, 10_000))?.revision,
    stop: () => sealer.stop(),
  }
}
async function withSealer(use: (started: Started) => Promise<void>, places: readonly SecondPlace[] = []) {
  const started = await start(places)
  try {
    await use(started)
  } finally {
    await started.stop()
  }
}

async function verified() {
  const keys = await signingKeys(engines.vault, testLog)
  return verifyLog(engines, async (events) => events.map(digestsOf), undefined, {
    identity: testLog,
    readStore: engines.readStore,
    outside: () => sealsFile(file).all(),
    keysOf: async () => keys?.verifiers ?? [],
  })
}
const revisionsOutside = async () => {
  const revisions: (number | undefined)[] = []
  for await (const { seal } of sealsFile(file).all()) revisions.push(seal?.revision)
  return revisions
}

test('two processes that seal at once, as after a lost lease, make one history of seals', async () => {
  const two = [await start(), await start()]
  for (let round = 0; round < 6; round += 1) {
    await happens()
    await Promise.all(two.map(({ seal }) => seal()))
  }
  await Promise.all(two.map(({ stop }) => stop()))
  expect(two.flatMap(({ told }) => told)).toEqual([])
  const { findings, sealing } = await verified()
  expect(findings).toEqual([])
  expect(sealing?.seals).toBeGreaterThanOrEqual(6)
  // A sealer that starts after the others continues from their last seal.
  await happens()
  await withSealer(async ({ seal, told }) => {
    expect(await seal()).toBeGreaterThan(5)
    expect(told).toEqual([])
  })
  const inLog = (await engines.log.read(sealStream(1), 0, 100)).map(({ revision }) => revision)
  expect([...new Set(await revisionsOutside())].toSorted((a, b) => Number(a) - Number(b))).toEqual(inLog)
})

test('a process that stood still while another sealed does not spoil the stored trees', async () => {
  for (let count = 0; count < 300; count += 1) await happens()
  const slow = await start()
  await slow.seal()
  const fast = await start()
  for (let count = 0; count < 600; count += 1) await happens()
  await fast.seal()
  await slow.seal()
  await happens()
  await fast.seal()
  await happens()
  await slow.seal()
  await Promise.all([slow.stop(), fast.stop()])
  expect([...slow.told, ...fast.told]).toEqual([])
  expect((await verified()).findings).toEqual([])
})

test('with the defaults the log is sealed every ten seconds, which leaves nothing that is older than a minute to vanish unseen', () => {
  const { seals } = readConfig({ DATA_DIR: folder })
  expect(seals).toMatchObject({ everyMs: 10_000, file: join(folder, 'seals.ndjson') })
})

test('a clock that goes back changes nothing about seals', async () => {
  const clock = { now: () => new Date(Date.now() + offset) }
  let offset = 0
  const log = eventLog({ eventStore: engines.eventStore, vault: engines.vault, bus: engines.bus, clock })
  for (offset of [0, -86_400_000, 3_600_000, -30 * 86_400_000]) {
    await happens()
    const started = await start([], { clock, log })
    await started.seal()
    await started.stop()
    expect(started.told).toEqual([])
  }
  expect((await verified()).findings).toEqual([])
  expect(await revisionsOutside()).toEqual([0, 1, 2, 3])
})

describe('the file of seals', () => {
  async function withSeals(count: number): Promise<readonly string[]> {
    for (let round = 0; round < count; round += 1) {
      await happens()
      await withSealer(async ({ seal }) => void (await seal()))
    }
    return (await readFile(file, 'utf8')).trimEnd().split('\n')
  }

  test('that was removed or cut back is written anew from the log, and the operator is told', async () => {
    const lines = await withSeals(3)
    for (const left of ['', `${lines[0]}\n`]) {
      await (left === '' ? rm(file) : writeFile(file, left))
      await withSealer(async ({ seal, warnings }) => {
        await seal()
        expect(JSON.stringify(warnings)).toMatch(/seals were missing in the file/)
      })
      expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toEqual(lines)
    }
    expect((await verified()).findings).toEqual([])
  })

  test('that ends in a long torn line, or in bytes that are no text, is gone on with', async () => {
    const lines = await withSeals(2)
    for (const torn of ['{"revision":1,'.padEnd(200_000, 'x'), '\u0000\uffff{{{', '{"revision":-1}\n\n\n']) {
      await writeFile(file, `${lines.join('\n')}\n${torn}`)
      await withSealer(async ({ seal, told }) => {
        await seal()
        expect(told).toEqual([])
      })
      // Sealing continues, and the check of the log reports the broken line.
      expect((await verified()).findings.map(({ sentence }) => sentence)).toEqual([
        'Line 3 of the file of seals is no seal.',
      ])
    }
  })

  test('that cannot be written stops sealing, and the operator is told until it can', async () => {
    await withSeals(1)
    await rm(file)
    await mkdir(file)
    await happens()
    await withSealer(async ({ seal, told }) => {
      expect(await seal()).toBeUndefined()
      expect(told.join()).toMatch(/cannot be sealed.*EISDIR/s)
      await rm(file, { recursive: true })
      expect(await seal()).toBe(1)
    })
    expect(await revisionsOutside()).toEqual([0, 1])
  })
})

test('a seal in the log that was changed stops sealing, and the operator is told', async () => {
  await happens()
  await withSealer(async ({ seal }) => void (await seal()))
  const eventStore: Pick<EventStore, 'readAll' | 'readStream'> = {
    readAll: engines.eventStore.readAll,
    readStream: async (stream, options) => {
      const events = await engines.eventStore.readStream(stream, options)
      return stream === sealStream(1) ? events.map((event) => ({ ...event, data: { epoch: 1 } })) : events
    },
  }
  const started = await start([], { eventStore })
  await happens()
  expect(await started.seal()).toBeUndefined()
  expect(started.told.join()).toMatch(/seal-1 @ 0 cannot be read: it was changed/)
  await started.stop()
})

describe('a witness that', () => {
  let server: Server
  let asked = 0
  async function answering(answer: RequestListener): Promise<readonly SecondPlace[]> {
    asked = 0
    server = createServer((...exchange) => {
      asked += 1
      answer(...exchange)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    return [witness(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`)]
  }
  afterEach(() => {
    server?.closeAllConnections()
    server?.close()
  })

  /** Expects that two sealers, one after the other, each make a seal: the answer of the second place stops nothing and is written to no file. */
  async function expectNothingHeldUp(places: readonly SecondPlace[]): Promise<void> {
    for (let round = 0; round < 2; round += 1) {
      await happens()
      await withSealer(async ({ seal, told, warnings }) => {
        expect(await seal()).toBe(round)
        await vi.waitFor(() => expect(JSON.stringify(warnings)).toMatch(/could not be brought/))
        expect(told).toEqual([])
      }, places)
    }
    expect(asked).toBeGreaterThan(1)
    expect(await revisionsOutside()).toEqual([0, 1])
    expect((await verified()).findings).toEqual([])
  }

  test.each([
    ['nothing', ''],
    ['a page', '<!doctype html><title>Welcome</title>\n'],
    ['a line without its end', '\u2014 witness.example AAAAAAAA'],
    ['another note', 'flightdeck.dev/log/x/1\n7\n\n\u2014 witness.example AAAAAAAAAAAA\n'],
    ['a signature under the name of the log', `\u2014 flightdeck.dev/log/${testLog.logId}/1 AAAAAAAAAAAA\n`],
    ['more than a signature', `${'\u2014 witness.example AAAAAAAAAAAA\n'.repeat(10_000)}`],
  ])('answers %s', async (_, body) => {
    await expectNothingHeldUp(await answering((_request, response) => response.end(body)))
    expect(await readFile(file, 'utf8')).not.toContain('witness.example')
  })

  test.each(['', ' ', '-5', '1e3', '7 apples', '99999999999999999999'])(
    'answers 409 with %o',
    async (size) => {
      await expectNothingHeldUp(await answering((_request, response) => response.writeHead(409).end(size)))
      expect(await readFile(file, 'utf8')).not.toContain('witness.example')
    },
  )

  test('redirects to elsewhere: nobody is asked there', async () => {
    let elsewhere = 0
    const other = createServer((_request, response) => {
      elsewhere += 1
      response.end()
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const address = other.address()
    const location = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
    await expectNothingHeldUp(
      await answering((_request, response) => response.writeHead(307, { location }).end()),
    )
    expect(elsewhere).toBe(0)
    other.close()
  })

  test('hangs, or never ends its answer, does not keep the sealer from stopping', async () => {
    for (const answer of [
      () => undefined,
      ((_request, response) => response.write('\u2014 witness.example ')) satisfies RequestListener,
    ]) {
      const places = await answering(answer)
      await happens()
      const started = await start(places)
      await vi.waitFor(() => expect(asked).toBe(1))
      await started.stop()
      server.closeAllConnections()
      server.close()
    }
  })
})

test('a cosignature that comes after the next seal has none written twice', async () => {
  const standIn = await startWitness(async () => (await signingKeys(engines.vault, testLog))?.verifiers ?? [])
  const real = witness(standIn.url)
  let [asked, released] = [0, 0]
  const slow: SecondPlace = {
    name: 'a slow witness',
    put: async (...seal) => {
      const turn = (asked += 1)
      const placed = await real.put(...seal)
      await vi.waitFor(() => expect(released).toBeGreaterThanOrEqual(turn))
      return placed
    },
  }
  await happens()
  const started = await start([slow])
  await started.seal()
  await happens()
  await started.seal()
  released = 1
  await vi.waitFor(async () => expect(await readFile(file, 'utf8')).toContain('witness.example'))
  await happens()
  expect(await started.seal()).toBe(2)
  released = 9
  await started.stop()
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  expect(lines.filter((line) => !line.includes('witness.example'))).toHaveLength(3)
  await standIn.close()
})

describe('recorder C2: a last seal that', () => {
  const kinds: readonly (readonly [string, RegExp, (seal: StoredEvent) => StoredEvent])[] = [
    [
      'says another root',
      /was not signed by a key/,
      (seal) => ({ ...seal, data: withRoot(seal, 'f'.repeat(64)) }),
    ],
    ['is no seal', /cannot be read: it was changed/, (seal) => ({ ...seal, data: {} })],
    [
      'has another revision',
      /does not come after/,
      (seal) => ({ ...seal, revision: Number.MAX_SAFE_INTEGER }),
    ],
  ]

  // Holds findings 1.85.
  test.each(kinds)('%s stops sealing with a reason', async (_kind, reason, change) => {
    await withSealer(async ({ seal }) => void (await seal()))
    await happens()
    const eventStore: EventStore = {
      ...engines.eventStore,
      readStream: async (stream, read) =>
        (await engines.eventStore.readStream(stream, read)).map((record) =>
          stream === sealStream(1) && !isDamaged(record) ? change(record) : record,
        ),
    }
    const started = await start([], { eventStore })
    expect(await started.seal()).toBeUndefined()
    await started.stop()
    expect(started.told.join(' ')).toMatch(reason)
    // Pages that show how far the log is sealed can still be read.
    const shown = await readableSeal(eventStore, testLog)
    expect(shown === undefined || shown.seal.root === 'f'.repeat(64)).toBe(true)
  })

  const withRoot = ({ data }: StoredEvent, root: string) => ({ ...LogSealed.data.parse(data), root })
})

// Holds findings 1.84.
test('recorder C2: where no seal can be added to the stream of seals, that is told', async () => {
  await withSealer(async ({ seal }) => void (await seal()))
  await happens()
  const log = { append: async () => ({ kind: 'conflict', actual: 7 }) as const }
  const started = await start([], { log })
  expect(await started.seal()).toBeUndefined()
  await started.stop()
  expect(started.told.join(' ')).toMatch(/No seal can be added to seal-1/)
})
