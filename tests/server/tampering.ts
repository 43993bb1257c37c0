/** Ways to change a stored log without a trace, as somebody with access to the database would; and which of them are found without a seal. */
import type { EventMeta, StoredEvent } from '#domain/kernel/event.ts'
import { parseStream, taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { TerminalHead } from '#domain/task/events.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { verifyLog, type Digest } from '#platform/verify/verify.ts'

type Log = readonly StoredEvent[]
/** Draws a whole number from 0 to below the bound. */
type Draw = (bound: number) => number

export interface Tampering {
  readonly kind: string
  /** The changed log; `undefined` when the change cannot be made to what was picked. */
  readonly apply: (log: Log, pick: Draw) => Log | undefined
}

const other = 'f'.repeat(64)
const someId = '11111111-1111-4111-8111-111111111111'

/** Changes one event. */
const changing = (kind: string, change: (event: StoredEvent) => StoredEvent | undefined): Tampering => ({
  kind,
  apply: (log, pick) => {
    const at = pick(log.length)
    const event = log[at]
    const changed = event && change(event)
    return changed && log.with(at, changed)
  },
})
const changingMeta = (field: keyof EventMeta, value: (meta: EventMeta) => Partial<EventMeta> | undefined) =>
  changing(`meta.${field}`, (event) => {
    const changed = value(event.meta)
    return changed && { ...event, meta: { ...event.meta, ...changed } }
  })

const ofStream = (log: Log, stream: string) => log.filter((event) => event.stream === stream)
const without = (log: Log, gone: ReadonlySet<StoredEvent>) => log.filter((event) => !gone.has(event))
const isOf = (kind: string) => (event: StoredEvent) => parseStream(event.stream).kind === kind
const pickOf = <T>(list: readonly T[], pick: Draw): T | undefined =>
  list.length === 0 ? undefined : list[pick(list.length)]

/** Removes a whole stream of a kind. */
const removingStream = (kind: string): Tampering => ({
  kind: `a ${kind} stream removed`,
  apply: (log, pick) => {
    const picked = pickOf(log.filter(isOf(kind)), pick)
    return picked && without(log, new Set(ofStream(log, picked.stream)))
  },
})

/** The stream's events from one on, with the change and all later hashes computed again. */
export function hashedAnew(log: Log, changed: StoredEvent): Log {
  let prev: string | undefined
  return log.map((event) => {
    if (event.stream !== changed.stream || event.revision < changed.revision) return event
    const now = event.revision === changed.revision ? changed : event
    const linked = { ...now, meta: { ...now.meta, prev: prev ?? now.meta.prev } }
    const hash = digestsOf(linked).hash
    prev = hash
    return { ...linked, meta: { ...linked.meta, hash } }
  })
}

/** Changes that are always found. */
export const foundTamperings: readonly Tampering[] = [
  changing('id', (event) => ({ ...event, id: someId })),
  changing('stream', (event) => ({ ...event, stream: taskStream(someId) })),
  changing('revision', (event) => ({ ...event, revision: event.revision + 1 })),
  changing('type', (event) => ({
    ...event,
    type: event.type === 'TaskUpdated' ? 'TaskDeleted' : 'TaskUpdated',
  })),
  changing('version', (event) => ({ ...event, version: event.version + 1 })),
  changing('at', (event) => ({ ...event, at: '2020-01-01T00:00:00.000Z' })),
  changing('data: a fact added', (event) => ({ ...event, data: { ...Object(event.data), added: true } })),
  changing('data: a fact removed', (event) => {
    const [[name] = []] = Object.entries(Object(event.data))
    if (name === undefined) return undefined
    const { [name]: _gone, ...data } = Object(event.data)
    return { ...event, data }
  }),
  changing('an envelope field added', (event) => ({ ...event, added: true })),
  changing('content: a bit', (event) => {
    if (event.content === null) return undefined
    const bytes = Buffer.from(event.content, 'base64')
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    return { ...event, content: bytes.toString('base64') }
  }),
  changing('content: removed', (event) => (event.content === null ? undefined : { ...event, content: null })),
  changing('content: added', (event) => (event.content === null ? { ...event, content: 'AAAA' } : undefined)),
  {
    kind: 'content: of another event',
    apply: (log, pick) => {
      const [one, two] = [pick(log.length), pick(log.length)]
      const [to, from] = [log[one], log[two]]
      if (!to || !from || to.content === from.content || to.content === null) return undefined
      return log.with(one, { ...to, content: from.content })
    },
  },
  changingMeta('actor', () => ({ actor: { kind: 'system', service: 'somebody' } })),
  changingMeta('commandId', () => ({ commandId: someId })),
  changingMeta('correlationId', () => ({ correlationId: someId })),
  changingMeta('causationId', () => ({ causationId: someId })),
  changingMeta('follows', ({ follows }) => ({ follows: follows === null ? 0 : follows + 1 })),
  changingMeta('content', ({ content }) => ({
    content: content ? { ...content, sealed: other } : { sealed: other, commitment: other },
  })),
  {
    ...changingMeta('content', ({ content }) =>
      content ? { content: { ...content, commitment: other } } : undefined,
    ),
    kind: 'meta.content.commitment',
  },
  changingMeta('prev', () => ({ prev: other })),
  changingMeta('hash', () => ({ hash: other })),
  changing('meta: a key added', (event) => {
    const meta = { ...event.meta, added: true }
    return { ...event, meta }
  }),
  {
    kind: 'an event removed from the middle',
    apply: (log, pick) => {
      const event = log[pick(log.length)]
      const stream = event ? ofStream(log, event.stream) : []
      return event && event !== stream.at(-1) ? without(log, new Set([event])) : undefined
    },
  },
  {
    kind: 'an event repeated',
    apply: (log, pick) => {
      const at = pick(log.length)
      const event = log[at]
      return event && log.toSpliced(at, 0, event)
    },
  },
  {
    kind: 'two events of a stream swapped',
    apply: (log, pick) => {
      const at = pick(log.length)
      const event = log[at]
      const next = log.findIndex((later, index) => index > at && later.stream === event?.stream)
      const later = log[next]
      return event && later && log.with(at, later).with(next, event)
    },
  },
  {
    kind: 'an event of the terminal moved before the one that it follows',
    apply: (log, pick) => {
      const moved = pickOf(
        log.filter(({ meta }) => meta.follows !== null),
        pick,
      )
      const name = moved && parseStream(moved.stream)
      if (!moved || name?.kind !== 'terminal') return undefined
      const to = log.findIndex(
        ({ stream, revision }) => stream === taskStream(name.id) && revision === moved.meta.follows,
      )
      const before = ofStream(log, moved.stream)[moved.revision - 1]
      // Moving it before its predecessor too would be a plain swap.
      if (to < 0 || (before && log.indexOf(before) > to)) return undefined
      return without(log, new Set([moved])).toSpliced(to, 0, moved)
    },
  },
  {
    kind: 'the tail of a terminal cut, before the end of a turn',
    apply: (log, pick) => {
      const end = pickOf(
        log.filter(({ data }) => TerminalHead.safeParse(Object(data).terminal).success),
        pick,
      )
      const name = end && parseStream(end.stream)
      if (name?.kind !== 'task') return undefined
      const { revision } = TerminalHead.parse(Object(end?.data).terminal)
      const tail = ofStream(log, terminalStream(name.id)).filter((event) => event.revision >= revision)
      return without(log, new Set(tail))
    },
  },
  {
    kind: 'the tail of a task cut that its terminal goes beyond',
    apply: (log, pick) => {
      const after = pickOf(
        log.filter(({ meta }) => (meta.follows ?? 0) > 0),
        pick,
      )
      const name = after && parseStream(after.stream)
      if (name?.kind !== 'terminal') return undefined
      const tail = ofStream(log, taskStream(name.id)).filter(
        ({ revision }) => revision >= (after?.meta.follows ?? 0),
      )
      return without(log, new Set(tail))
    },
  },
  ...['log', 'user', 'project', 'task', 'terminal'].map(removingStream),
  {
    kind: 'the beginning of the log put behind another event',
    apply: ([begun, ...rest], pick) => (begun ? rest.toSpliced(1 + pick(rest.length), 0, begun) : undefined),
  },
  {
    kind: 'an event hashed anew, with none after it',
    apply: (log, pick) => {
      const at = pick(log.length)
      const event = log[at]
      if (!event || event === ofStream(log, event.stream).at(-1)) return undefined
      const changed = { ...event, at: '2020-01-01T00:00:00.000Z' }
      return log.with(at, { ...changed, meta: { ...changed.meta, hash: digestsOf(changed).hash } })
    },
  },
  {
    kind: 'a terminal hashed anew that the end of a turn names',
    apply: (log, pick) => {
      const end = pickOf(
        log.filter(({ data }) => TerminalHead.safeParse(Object(data).terminal).success),
        pick,
      )
      const name = end && parseStream(end.stream)
      if (name?.kind !== 'task') return undefined
      const [first] = ofStream(log, terminalStream(name.id))
      return first && hashedAnew(log, { ...first, at: '2020-01-01T00:00:00.000Z' })
    },
  },
  {
    kind: 'content put in anew without its key, hashed anew to the end',
    apply: (log, pick) => {
      const event = pickOf(
        log.filter(({ content }) => content !== null),
        pick,
      )
      if (!event?.meta.content) return undefined
      const bytes = Buffer.from(event.content ?? '', 'base64').reverse()
      const changed = { ...event, content: bytes.toString('base64') }
      const sealed = digestsOf(changed).sealed ?? ''
      return hashedAnew(log, {
        ...changed,
        meta: { ...changed.meta, content: { ...event.meta.content, sealed } },
      })
    },
  },
]

/** Changes that only a seal can reveal, because the changed log could be genuine. */
export const sealOnlyTamperings: readonly Tampering[] = [
  {
    kind: 'a stream hashed anew from the change to the end, which nothing else names',
    apply: (log, pick) => {
      const event = pickOf(log.filter(isOf('task')), pick)
      return event && hashedAnew(log, { ...event, at: '2020-01-01T00:00:00.000Z' })
    },
  },
  {
    kind: 'the last event of a user cut',
    apply: (log, pick) => {
      const event = pickOf(log.filter(isOf('user')), pick)
      const last = event && ofStream(log, event.stream).at(-1)
      return last && last.revision > 0 ? without(log, new Set([last])) : undefined
    },
  },
  {
    kind: 'a task removed with its terminal',
    apply: (log, pick) => {
      const event = pickOf(log.filter(isOf('task')), pick)
      const name = event && parseStream(event.stream)
      if (name?.kind !== 'task') return undefined
      const streams = new Set([taskStream(name.id), terminalStream(name.id)])
      return log.filter(({ stream }) => !streams.has(stream))
    },
  },
  {
    kind: 'a forgery appended with a right hash',
    apply: (log, pick) => {
      const event = pickOf(
        log.filter(({ type }) => type === 'SessionStarted'),
        pick,
      )
      const last = event && ofStream(log, event.stream).at(-1)
      const [before] = last ? ofStream(log, last.stream).filter(({ type }) => type === 'SessionStarted') : []
      if (!last || !before) return undefined
      const forged = {
        ...before,
        id: someId,
        type: 'SessionEnded',
        data: { sessionId: someId },
        content: null,
        revision: last.revision + 1,
      }
      const linked = { ...forged, meta: { ...forged.meta, content: null, prev: last.meta.hash } }
      return [...log, { ...linked, meta: { ...linked.meta, hash: digestsOf(linked).hash } }]
    },
  },
]

/** The log as a store gives it, with each event at its place. */
export function storeOf(log: Log): Pick<EventStore, 'readAll' | 'readStream'> {
  const placed = log.map((event, index) => {
    const position = String(index + 1)
    return event.position === position ? event : { ...event, position }
  })
  return {
    readAll: async (after, limit) => placed.slice(Number(after ?? 0), Number(after ?? 0) + limit),
    readStream: async (stream, { from, limit }) =>
      placed.filter((event) => event.stream === stream && event.revision >= Number(from)).slice(0, limit),
  }
}

/** Draws whole numbers that depend only on the seed. */
export function pickFrom(seed: number): Draw {
  let state = seed >>> 0
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

/** Tries each kind this many times; returns the kinds that were not found, each with the changed log. Throws when the log itself is not whole. */
export async function tamperedWith(
  log: Log,
  vault: Pick<Vault, 'open'>,
  { tamperings, times, seed }: { tamperings: readonly Tampering[]; times: number; seed: number },
): Promise<{ tried: number; missed: readonly string[] }> {
  const here: Digest = async (events) => events.map(digestsOf)
  const findingsOf = async (changed: Log) =>
    (await verifyLog({ eventStore: storeOf(changed), vault }, here)).findings
  const own = await findingsOf(log)
  if (own.length > 0)
    throw new Error(`The log is not whole: ${own.map(({ sentence }) => sentence).join(' ')}`)
  const pick = pickFrom(seed)
  let tried = 0
  const missed: string[] = []
  for (const { kind, apply } of tamperings) {
    for (let done = 0, misfits = 0; done < times;) {
      const changed = apply(log, pick)
      if (changed === undefined) {
        misfits += 1
        if (misfits > 10_000) throw new Error(`${kind}: there is nothing in the log to try it on.`)
        continue
      }
      done += 1
      tried += 1
      if ((await findingsOf(changed)).length === 0) missed.push(kind)
    }
  }
  return { tried, missed }
}
