/** Changed logs in a SQLite file with their file of seals, and the results of both verifiers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logStream } from '#domain/kernel/streams.ts'
import { LogRestored, RestoredEpoch } from '#domain/log.ts'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { commands } from '#platform/commands/execute.ts'
import { openSqlite } from '#platform/engines/sqlite.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'
import { eventLog } from '#platform/eventlog/eventLog.ts'
import { openSqliteEventStore } from '#platform/eventstore/sqlite.ts'
import { intact } from '#platform/ports/eventStore.ts'
import { restoreLog } from '#platform/seals/nextEpoch.ts'
import { sealsFile } from '#platform/seals/sealsFile.ts'
import { sealCollections } from '#platform/seals/sealTrees.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'
import { verifyLog } from '#platform/verify/verify.ts'
import { startSealer } from '../../services/maintenance/sealer.ts'
import { readFrozenLog } from '../server/frozenLog.ts'
import { openTestEngines } from '../server/engines.ts'
import { openSealedLog, type SealedLog } from '../server/sealedLog.ts'
import { pickFrom } from '../server/tampering.ts'
import { comparing, type Comparison, type Said } from './compare.ts'
import { logMutations, rowsOf, type ChangedLog, type LogOnDisk } from './logMutations.ts'
import { startSecondVerifier, type Answer } from './secondVerifier.ts'

/** The table of the product without its constraints, which somebody who changes a log need not keep. */
const table = `CREATE TABLE events (
  position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, stream TEXT, revision INTEGER, type TEXT, version INTEGER, at TEXT, data TEXT,
  content TEXT, meta TEXT
)`
const formatOfTable = 4

async function sealedOnDisk({ log, evidence }: SealedLog): Promise<LogOnDisk> {
  const lines: string[] = []
  for await (const { text } of evidence.outside()) lines.push(`${text}\n`)
  return { events: log, rows: rowsOf(log), seals: lines.join('') }
}

interface PutBack {
  /** The number of events in the copy. */
  readonly kept: number
  /** The file of seals at that time. */
  readonly seals: string
  readonly epochBefore: number
}

/** The log restored to its first events, from where it goes on and is sealed in a later epoch. */
async function restoredOnDisk(
  sealed: SealedLog,
  folder: string,
  { kept, seals, epochBefore }: PutBack,
): Promise<LogOnDisk> {
  const file = join(folder, `restored-${epochBefore}.ndjson`)
  await writeFile(file, seals)
  const engines = await openTestEngines()
  try {
    const { eventStore, bus, clock } = engines
    const { vault } = sealed.engines
    const append = async (events: typeof sealed.log) => {
      for (const { position: _position, ...event } of events)
        await eventStore.append(event.stream, event.revision - 1, [event])
    }
    await append(sealed.log.slice(0, kept))
    const own = commands(eventLog({ eventStore, vault, bus, clock }))
    const logIdentity = await restoreLog({ commands: own, eventStore, vault, clock }, epochBefore)
    const rpc = openInProcessRpc({ onFault: () => undefined })
    const sealer = await startSealer(
      { ...engines, vault, rpc, logIdentity },
      { intervalMs: 3_600_000, file, tell: () => undefined },
    )
    const rest = sealed.log.slice(kept).filter(({ type }) => type !== 'LogSealed')
    for (const part of [rest.slice(0, 8), rest.slice(8)]) {
      await append(part)
      if ((await rpc.call('seal', {}, 10_000)) === undefined) throw new Error('The log was not sealed.')
    }
    await sealer.stop()
    const events = intact(await eventStore.readAll(null, 10_000))
    const lines: string[] = []
    for await (const { text } of sealsFile(file).all()) lines.push(`${text}\n`)
    return { events, rows: rowsOf(events), seals: lines.join('') }
  } finally {
    await engines.close()
  }
}

/**
 * Runs both verifiers on this many changes: of a sealed log, of two restored ones, and of one that was never sealed. Ours gets no keys for contents
 * and no stored trees, which the second does not have, so it is not compared whether contents open. Blobs are not compared, nor what the
 * documentation leaves open: which types of events there are, and which data each has. Therefore types, versions and other data are only changed
 * together with a wrong hash.
 */
export async function compareLogs({ times, seed }: { times: number; seed: number }): Promise<Comparison> {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-second-'))
  const sealed = await openSealedLog()
  const second = startSecondVerifier()
  const compared = comparing()
  try {
    const { events } = await readFrozenLog('v1')
    const unsealed = { events, rows: rowsOf(events), seals: '' }
    const whole = await sealedOnDisk(sealed)
    const once = await restoredOnDisk(sealed, folder, { kept: 30, seals: whole.seals, epochBefore: 1 })
    // From another copy of the first epoch, so that the log contains nothing of the second.
    const twice = await restoredOnDisk(sealed, folder, { kept: 45, seals: once.seals, epochBefore: 2 })
    const logs = [whole, once, twice, unsealed]
    await sealed.engines.readStore.drop(sealCollections.map(({ name }) => name))
    const { check, close } = await verifiers(folder, sealed, second)
    const pick = pickFrom(seed)
    for (const log of logs) await check('nothing', log)
    for (let tried = 0; tried < times;) {
      const [log, mutation] = [logs[pick(logs.length)], logMutations[pick(logMutations.length)]]
      const changed = log && mutation?.apply(log, pick)
      if (!mutation || !changed) continue
      tried += 1
      const { ours, theirs } = await check(mutation.kind, changed)
      compared.add(mutation.kind, ours, theirs)
    }
    await close()
    return compared.done()
  } finally {
    await second.close()
    await sealed.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function verifiers(folder: string, sealed: SealedLog, second: ReturnType<typeof startSecondVerifier>) {
  const [file, seals] = [join(folder, 'events.sqlite'), join(folder, 'seals.ndjson')]
  const db = openSqlite({ file, synchronous: 'OFF', formats: [table], firstFormat: formatOfTable })
  const eventStore = openSqliteEventStore({ file, onFault: () => undefined })
  const { identity, readStore } = sealed.evidence
  const keysOf = async (epoch: number) =>
    (await signingKeys(sealed.engines.vault, { ...identity, epoch }))?.vouched ?? []
  const keys = (await signingKeys(sealed.engines.vault, identity))?.vkeys ?? []
  const ours = async (epoch: number): Promise<Said> => {
    const { findings } = await verifyLog(
      { eventStore, vault: { open: async () => undefined } },
      async (events) => events.map(digestsOf),
      undefined,
      { identity: { ...identity, epoch }, readStore, keysOf, outside: () => sealsFile(seals).all() },
    )
    return {
      verdict: findings.length === 0 ? 'whole' : 'not_whole',
      places: findings.map(({ stream, revision }) => (revision === null ? stream : `${stream}@${revision}`)),
      words: findings.map(({ sentence }) => sentence),
    }
  }
  return {
    async check(kind: string, changed: ChangedLog): Promise<{ ours: Said; theirs: Said }> {
      fill(db, changed.rows)
      await writeFile(seals, changed.seals)
      const [own, answer] = await Promise.all([
        ours(epochIn(changed)),
        second.check({ kind: 'log', file, keys, seals: [seals] }),
      ])
      const both = { ours: own, theirs: saidOf(answer) }
      if (kind === 'nothing' && both.ours.verdict + both.theirs.verdict !== 'wholewhole')
        throw new Error(`A log that nobody changed is not whole: ${JSON.stringify(both)}`)
      return both
    },
    async close() {
      await eventStore.close()
      db.close()
    },
  }
}

export function saidOf({ verdict, faults, words }: Answer): Said {
  return {
    verdict,
    places: faults.flatMap(({ stream, revision }) =>
      stream === null || stream === 'seals.ndjson'
        ? []
        : [revision === null ? stream : `${stream}@${revision}`],
    ),
    words: [words, ...faults.map(({ stream, revision, reason }) => `${stream}@${revision} ${reason}`)],
  }
}

function fill(db: ReturnType<typeof openSqlite>, rows: ChangedLog['rows']): void {
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  db.transaction(() => {
    db.exec('DELETE FROM events')
    for (const { position, id, stream, revision, type, version, at, data, content, meta } of rows)
      insert.run(position, id, stream, revision, type, version, at, data, content, meta)
  })
}

/** The epoch of the log, which the product takes from the log's own stream. */
function epochIn({ rows }: ChangedLog): number {
  const epochs = rows.map(({ stream, type, data }) => {
    if (stream !== logStream || type !== LogRestored.type) return 1
    try {
      return RestoredEpoch.safeParse(JSON.parse(data)).data?.epoch ?? 1
    } catch {
      return 1
    }
  })
  return Math.max(1, ...epochs)
}
