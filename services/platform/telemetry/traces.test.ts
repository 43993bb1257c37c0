/** Traces connect everything that a request causes, in however many processes it happens. */
import { expect, test } from 'vitest'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { TaskDeleted } from '#domain/task/events.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import type { Cause } from '#platform/eventlog/eventLog.ts'
import { executionId, taskId } from '../../../tests/domain/ids.ts'
import { recorded } from '../../../tests/domain/recorded.ts'
import { spansOf, traceIdOf, type ServerKind } from './traces.ts'
import type { Observation } from './telemetry.ts'

const requestId = '0af76519-16cd-43dd-8448-eb211c80319c'
const traceId = '0af7651916cd43dd8448eb211c80319c'
const actor = { kind: 'system', service: 'test' } as const
const stream = taskStream(taskId(1))
const cause: Cause = { actor, commandId: 'c1', correlationId: requestId }
const period = { begun: Date.UTC(2026, 0, 1), ended: Date.UTC(2026, 0, 1, 0, 0, 1) }
const at = new Date(period.begun).toISOString()

function eventOf(of: Cause, where = stream): AnyRecorded {
  const printed = { executionId: executionId(1), attempt: 1, kind: 'turn', channel: 'stdout' } as const
  const event =
    where === stream ? TaskDeleted.of({}) : TerminalOutputRecorded.of(printed, { text: 'words of somebody' })
  const made = recorded(event, { stream: where, revision: 0, position: '1' })
  const { commandId, correlationId = commandId, causationId = null } = of
  return { ...made, at, meta: { ...made.meta, commandId, correlationId, causationId } } as AnyRecorded
}
const stored = (event: AnyRecorded): StoredEvent => ({ ...event, content: null })

/** The one span of an observation. */
function span(observation: Observation, serverKind: ServerKind = 'gateway') {
  const [first, ...more] = spansOf(observation, serverKind)
  if (!first || more.length > 0) throw new Error(`It has ${more.length + (first ? 1 : 0)} spans.`)
  return first
}
const request = (serverKind: ServerKind) =>
  span(
    { kind: 'request', requestId, method: 'POST', route: '/api/tasks', status: 201, ...period },
    serverKind,
  )
const command = (of: Cause = cause, serverKind: ServerKind = 'gateway') =>
  span({ kind: 'command', type: 'CreateTask', stream, cause: of, outcome: 'done', ...period }, serverKind)
const append = (of: Cause = cause) =>
  span({ kind: 'append', stream, cause: of, events: [eventOf(of)], ...period })

test('a request, its command, what was appended, and what followed of it are one trace, each below what caused it', () => {
  const projection = span({ kind: 'projected', events: [stored(eventOf(cause))], ...period })
  const sent = span({ kind: 'messages_sent', event: eventOf(cause), messages: 2, ...period })
  const chain = [request('gateway'), command(), append(), projection]
  expect(chain.map(({ parentId }) => parentId)).toEqual([
    null,
    ...chain.slice(0, -1).map((one) => one.spanId),
  ])
  expect(sent.parentId).toBe(append().spanId)
  const all = [...chain, sent]
  expect(new Set(all.map((one) => one.traceId))).toEqual(new Set([traceId]))
  expect(new Set(all.map((one) => one.spanId)).size).toBe(all.length)
  for (const { spanId } of all) expect(spanId).toMatch(/^[0-9a-f]{16}$/)
})

test('of a request that goes through a gateway, the service has its own span below the one of the gateway, and its command is below that', () => {
  expect(request('service').parentId).toBe(request('gateway').spanId)
  expect(command(cause, 'service').parentId).toBe(request('service').spanId)
})

test('what a runner does is below the run, the run below the job, and the job below the event that asked for it', () => {
  const asking = eventOf(cause)
  const job = span({ kind: 'queued', job: 'execution', event: stored(asking), ...period })
  const origin = { correlationId: requestId, causationId: asking.id }
  const run = span({ kind: 'run_ended', job: 'execution', origin, ok: true, ...period })
  const started = command({ actor, commandId: 'c2', ...origin })
  expect(job.parentId).toBe(append().spanId)
  expect(run.parentId).toBe(job.spanId)
  expect(started.parentId).toBe(run.spanId)
  expect([job, run, started].map((one) => one.traceId)).toEqual([traceId, traceId, traceId])
})

test('an append that is tried again is two spans, and only the one that holds has what follows below it', () => {
  const lost = span({ kind: 'append', stream, cause, events: 'conflict', ...period })
  expect(lost.parentId).toBe(append().parentId)
  expect(lost.spanId).not.toBe(append().spanId)
  expect(lost.attributes).toEqual({ outcome: 'conflict' })
})

test('a command that nobody asked for is a trace of its own', () => {
  const commandId = 'ffffffff-16cd-43dd-8448-eb211c80319c'
  expect(command({ actor, commandId })).toMatchObject({
    traceId: 'ffffffff16cd43dd8448eb211c80319c',
    parentId: null,
  })
})

test('output is not traced, nor a rebuild, nor what is not of the API', () => {
  const output = eventOf(cause, terminalStream(taskId(1)))
  const later = { begun: period.begun + 61_000, ended: period.ended + 61_000 }
  const none: readonly Observation[] = [
    { kind: 'append', stream: output.stream, cause, events: [output], ...period },
    { kind: 'messages_sent', event: output, messages: 1, ...period },
    { kind: 'projected', events: [stored(output)], ...period },
    { kind: 'projected', events: [stored(eventOf(cause))], ...later },
    { kind: 'request', requestId, method: 'GET', route: 'client', status: 200, ...period },
    { kind: 'rooms', open: 1 },
  ]
  for (const observation of none) expect(spansOf(observation, 'gateway')).toEqual([])
})

test('a fault of ours is marked, a refusal is not', () => {
  const outcomes = ['done', 'not_found', 'internal', 'engine_unavailable'] as const
  const spans = outcomes.map((outcome) =>
    span({ kind: 'command', type: 'CreateTask', stream, cause, outcome, ...period }),
  )
  expect(spans.map(({ ok }) => ok)).toEqual([true, true, false, false])
})

test('a trace id is the digits of a UUID, and of nothing else', () => {
  expect(traceIdOf(requestId)).toBe(traceId)
  for (const none of [undefined, '', 'c0', '00000000-0000-0000-0000-000000000000', `${requestId}0`])
    expect(traceIdOf(none)).toBeUndefined()
})
