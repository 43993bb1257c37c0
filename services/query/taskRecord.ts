/** The state of a task's record: how many events are sealed, and whether this server found them unchanged. */
import { LRUCache } from 'lru-cache'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { getTaskRecord } from '#domain/api/history.schema.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { chainFaultOf } from '#platform/eventlog/chain.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { isDamaged } from '#platform/ports/eventStore.ts'
import { readableSeal } from '#platform/seals/recordedSeals.ts'
import { sealCollections, type StreamHead } from '#platform/seals/sealTrees.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'
import { endUnder, lengthOf } from './provenHeads.ts'
import type { AuditSources } from './taskAudit.ts'

export type TaskRecord = AnswerOf<typeof getTaskRecord>
type StreamName = 'task' | 'terminal'

/** One request checks at most this many events of each stream. The next request continues after them. */
const checkedAtOnce = 5_000
const page = 250
/** How long a result is cached, in milliseconds. Then all events are checked again, to find later changes in the database. */
const believedMs = 600_000
/** The results of at most this many streams are cached. */
const maxKept = 400

/** The result of checking the beginning of a stream. */
interface Checked {
  readonly since: number
  /** The last event that was found unchanged; `null` before any event was checked. */
  readonly last: Pick<StoredEvent, 'revision' | 'meta'> | null
  /** The revision of the first event that has changed; `null` when no changed event was found. */
  readonly damagedAt: number | null
}

/** The last event of a stream that is proven to be sealed. All events before it in the stream are sealed too. */
type SealedEnd = Pick<StreamHead, 'revision' | 'hash'>

/** The records of tasks. The results of the latest requests are cached. */
export interface TaskRecords {
  of(taskId: string): Promise<TaskRecord>
}

type Sources = AuditSources & {
  readonly clock: Clock
  /** Whether this server seals its log. */
  readonly isSealing: boolean
}

export function taskRecords(sources: Sources): TaskRecords {
  const kept = new LRUCache<string, Checked>({ max: maxKept })
  const proven = new LRUCache<string, SealedEnd>({ max: maxKept })
  const checked = async (stream: string): Promise<Checked> => {
    const now = sources.clock.now().getTime()
    const before = kept.get(stream)
    const isBelieved = before !== undefined && now - before.since < believedMs && before.damagedAt === null
    const found = await checkOn(sources, stream, isBelieved ? before : nothingChecked(now))
    kept.set(stream, found)
    return found
  }
  return {
    async of(taskId) {
      const streams = { task: taskStream(taskId), terminal: terminalStream(taskId) }
      const lengths = await Promise.all(Object.values(streams).map((stream) => lengthOf(sources, stream)))
      const found = { task: await checked(streams.task), terminal: await checked(streams.terminal) }
      const sealed = await sealOf(sources, streams, proven)
      const keys = await signingKeys(sources.vault, sources.logIdentity)
      return {
        events: lengths.reduce((sum, length) => sum + length, 0),
        checked: {
          at: new Date(Math.min(found.task.since, found.terminal.since)).toISOString(),
          events: countOf(found.task) + countOf(found.terminal),
        },
        damage: damageIn(found) ?? sealed.damage,
        isSealing: sources.isSealing,
        seal: sealed.seal,
        key: keys?.published[0]?.fingerprint ?? null,
      }
    },
  }
}

const nothingChecked = (since: number): Checked => ({ since, last: null, damagedAt: null })

/** Continues the check of a stream's hash chain after the events that `before` covers. */
async function checkOn({ eventStore }: AuditSources, stream: string, before: Checked): Promise<Checked> {
  let { last } = before
  for (let count = 0; count < checkedAtOnce; count += page) {
    const from = (last?.revision ?? -1) + 1
    const read = await eventStore.readStream(stream, { from, direction: 'forwards', limit: page })
    for (const event of read) {
      const next: number = (last?.revision ?? -1) + 1
      if (isDamaged(event) || chainFaultOf(event, last) !== undefined)
        return { ...before, last, damagedAt: next }
      last = { revision: event.revision, meta: event.meta }
    }
    if (read.length < page) return { ...before, last }
  }
  return { ...before, last }
}

const countOf = ({ last }: Checked) => (last?.revision ?? -1) + 1

function damageIn(found: Readonly<Record<StreamName, Checked>>): TaskRecord['damage'] {
  for (const stream of ['task', 'terminal'] as const) {
    const { damagedAt } = found[stream]
    if (damagedAt !== null) return { stream, revision: damagedAt }
  }
  return null
}

/** The newest seal, and how many events are sealed. In each stream, all events up to the last one that was ever proven to be sealed are counted. */
async function sealOf(
  sources: AuditSources,
  streams: Readonly<Record<StreamName, string>>,
  proven: LRUCache<string, SealedEnd>,
): Promise<Pick<TaskRecord, 'seal' | 'damage'>> {
  const newest = await readableSeal(sources.eventStore, sources.logIdentity)
  if (newest === undefined) return { seal: null, damage: null }
  await sources.readStore.prepare(sealCollections)
  let events = 0
  let damage: TaskRecord['damage'] = null
  for (const name of ['task', 'terminal'] as const) {
    const stream = streams[name]
    // An event that an earlier seal covered is also covered by every later seal of the epoch, so an earlier proof still counts.
    const end = (await endUnder(sources, newest, stream)) ?? proven.get(stream)
    if (end === undefined) continue
    proven.set(stream, end)
    const { revision, hash } = end
    const [event] = await sources.eventStore.readStream(stream, {
      from: revision,
      direction: 'forwards',
      limit: 1,
    })
    if (event && !isDamaged(event) && event.revision === revision && event.meta.hash === hash)
      events += revision + 1
    else damage ??= { stream: name, revision }
  }
  return { seal: { at: newest.at, events }, damage }
}
