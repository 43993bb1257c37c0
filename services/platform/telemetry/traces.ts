/**
 * Makes spans from observations. A trace is everything that a request caused. The trace's id is the request's id, which every event carries as its
 * `correlationId`. A span's id is computed from the ids of the work that it describes. So processes need not pass ids of spans on to each other.
 */
import { createHash } from 'node:crypto'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { parseStream } from '#domain/kernel/streams.ts'
import type { Cause } from '#platform/eventlog/eventLog.ts'
import type { Appended, CommandDone, Observation, Period, RequestAnswered } from './telemetry.ts'

/** A piece of work in a trace. Attributes are our own words, codes and counts: no text by people or agents. */
export interface Span extends Period {
  readonly name: string
  readonly kind: 'server' | 'client' | 'internal' | 'producer' | 'consumer'
  /** The id of the trace: 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits, like `parentId`. */
  readonly spanId: string
  readonly parentId: string | null
  readonly ok: boolean
  readonly attributes: Readonly<Record<string, string | number>>
  /** The convention that the names in the span are from; without it, they are our own. */
  readonly scope?: { readonly name: string; readonly version: string }
}

/** Where requests of this process come from: from outside, or from a gateway that makes its own span for them. */
export type ServerKind = 'gateway' | 'service'

/** Events that are older than this when they are projected get no span, since most of them are read again for a rebuild. */
const tracedForMs = 60_000

/** The spans of an observation: at most one for each event of a projected batch, and at most one for any other observation. */
export function spansOf(observation: Observation, serverKind: ServerKind): readonly Span[] {
  switch (observation.kind) {
    case 'request':
      return requestSpan(observation, serverKind)
    case 'command':
      return commandSpan(observation, serverKind)
    case 'append':
      return appendSpan(observation)
    case 'projected':
      return observation.events
        .filter((event) => isTraced(event.stream) && isFresh(event, observation))
        .flatMap((event) => spanAfter(event, `project ${event.type}`, 'consumer', observation))
    case 'messages_sent':
      return isTraced(observation.event.stream)
        ? spanAfter(observation.event, `say ${observation.event.type}`, 'producer', observation, {
            messages: observation.messages,
          })
        : []
    case 'queued': {
      const { event, job } = observation
      const [span] = spanAfter(event, `queue ${job}`, 'producer', observation)
      return span ? [{ ...span, spanId: jobSpanId(event.id) }] : []
    }
    case 'run_ended': {
      const { job, origin, ok, begun, ended } = observation
      const traceId = traceIdOf(origin.correlationId)
      const requestedBy = origin.causationId
      if (traceId === undefined || !requestedBy) return []
      const ids = { traceId, spanId: runSpanId(requestedBy), parentId: jobSpanId(requestedBy) }
      return [{ name: `run ${job}`, kind: 'consumer', ...ids, begun, ended, ok, attributes: {} }]
    }
    default:
      return []
  }
}

function requestSpan(request: RequestAnswered, serverKind: ServerKind): readonly Span[] {
  const { requestId, method, route, status, begun, ended } = request
  const traceId = traceIdOf(requestId)
  if (traceId === undefined || !route.startsWith('/api/')) return []
  return [
    {
      name: `${method} ${route}`,
      kind: 'server',
      traceId,
      spanId: requestSpanId(requestId, serverKind),
      parentId: serverKind === 'gateway' ? null : requestSpanId(requestId, 'gateway'),
      begun,
      ended,
      ok: status !== 'gone' && status < 500,
      attributes: {
        'http.request.method': method,
        'http.route': route,
        ...(status === 'gone' ? {} : { 'http.response.status_code': status }),
      },
    },
  ]
}

function commandSpan({ type, stream, cause, outcome, begun, ended }: CommandDone, serverKind: ServerKind) {
  const traceId = traceIdOf(cause.correlationId ?? cause.commandId)
  if (traceId === undefined || !isTraced(stream)) return []
  const span: Span = {
    name: `command ${type}`,
    kind: 'internal',
    traceId,
    spanId: commandSpanId(stream, cause.commandId),
    parentId: parentOf(cause, serverKind),
    begun,
    ended,
    ok: outcome !== 'internal' && outcome !== 'engine_unavailable' && outcome !== 'disk_full',
    attributes: { outcome },
  }
  return [span]
}

/**
 * The id of the parent span. For work that a job caused, this is the span of the job's run; for all other work, the span of the request. `null`
 * without a request.
 */
function parentOf({ correlationId, causationId }: Cause, serverKind: ServerKind): string | null {
  if (correlationId === undefined) return null
  return causationId ? runSpanId(causationId) : requestSpanId(correlationId, serverKind)
}

function appendSpan({ stream, cause, events, begun, ended }: Appended): readonly Span[] {
  const traceId = traceIdOf(cause.correlationId ?? cause.commandId)
  if (traceId === undefined || !isTraced(stream)) return []
  const isDone = typeof events !== 'string'
  const attributes = isDone ? { events: events.map(({ type }) => type).join(' ') } : { outcome: events }
  const parentId = commandSpanId(stream, cause.commandId)
  // A failed append is tried again, so only the successful attempt gets the id that its children refer to.
  const spanId = isDone ? appendSpanId(stream, cause.commandId) : idOf('attempt', parentId, String(begun))
  const ok = events !== 'fault'
  return [{ name: 'append', kind: 'internal', traceId, spanId, parentId, begun, ended, ok, attributes }]
}

function spanAfter(
  { id, stream, meta }: Pick<StoredEvent, 'id' | 'stream' | 'meta'>,
  name: string,
  kind: Span['kind'],
  { begun, ended }: Period,
  attributes: Span['attributes'] = {},
): readonly Span[] {
  const traceId = traceIdOf(meta.correlationId)
  if (traceId === undefined) return []
  const parentId = appendSpanId(stream, meta.commandId)
  const spanId = idOf(name, id, String(begun))
  return [{ name, kind, traceId, spanId, parentId, begun, ended, ok: true, attributes }]
}

/** Terminal output is not traced: it comes by the thousands and would hide everything else. */
const isTraced = (stream: string): boolean => parseStream(stream).kind !== 'terminal'

const isFresh = ({ at }: StoredEvent, { ended }: Period): boolean => ended - Date.parse(at) <= tracedForMs

/** The digits of a UUID; `undefined` for any other text, and for a UUID of zeros only. */
export function traceIdOf(correlationId: string | undefined): string | undefined {
  const digits = correlationId?.replaceAll('-', '') ?? ''
  return /^[0-9a-f]{32}$/.test(digits) && !/^0+$/.test(digits) ? digits : undefined
}

/** The id of a span, computed from the words and ids that identify its work. */
export const idOf = (...about: readonly string[]): string =>
  createHash('sha256').update(about.join('\n')).digest('hex').slice(0, 16)
const requestSpanId = (requestId: string, serverKind: ServerKind): string =>
  idOf('request', serverKind, requestId)
const commandSpanId = (stream: string, commandId: string): string => idOf('command', stream, commandId)
const appendSpanId = (stream: string, commandId: string): string => idOf('append', stream, commandId)
const jobSpanId = (eventId: string): string => idOf('job', eventId)
export const runSpanId = (eventId: string): string => idOf('run', eventId)
