/** Metrics count what happened, with a small number of labels. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { ExecutionCompleted, ExecutionFailed, UsageRecorded } from '#domain/task/events.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { executionId, messageId, taskId } from '../../../tests/domain/ids.ts'
import { recorded } from '../../../tests/domain/recorded.ts'
import { readMetrics } from '../../../tests/standins/prometheus.ts'
import { modelKind, openMetrics } from './metrics.ts'

const period = { begun: 1_000, ended: 1_250 }
const actor = { kind: 'system', service: 'test' } as const
const stream = taskStream(taskId(1))
const work = { executionId: executionId(1), messageId: messageId(1) }
const placed = (event: Parameters<typeof recorded>[0], where = stream) =>
  recorded(event, { stream: where, revision: 0, position: '1' }) as AnyRecorded
const appending = (events: readonly AnyRecorded[]) =>
  ({ kind: 'append', stream, cause: { actor, commandId: randomUUID() }, events, ...period }) as const

test('requests are counted by their route, method and class of status, with their seconds', async () => {
  const metrics = openMetrics()
  for (const status of [200, 204, 404, 'gone'] as const) {
    const asked = { requestId: randomUUID(), method: 'GET', route: '/api/tasks/:taskId' }
    metrics.emit({ kind: 'request', ...asked, status, ...period })
  }
  const read = readMetrics(await metrics.text())
  const of = (status: string) => ({ method: 'GET', route: '/api/tasks/:taskId', status })
  expect(read.value('flightdeck_http_request_seconds_count', of('2xx'))).toBe(2)
  expect(read.value('flightdeck_http_request_seconds_sum', of('2xx'))).toBe(0.5)
  expect(read.value('flightdeck_http_request_seconds_count', of('4xx'))).toBe(1)
  expect(read.value('flightdeck_http_request_seconds_count', of('gone'))).toBe(1)
})

test('pages that were viewed are counted by their address', async () => {
  const metrics = openMetrics()
  for (const route of ['/tasks/:taskId', '/tasks/:taskId', 'other'] as const)
    metrics.emit({ kind: 'page_viewed', route })
  const read = readMetrics(await metrics.text())
  expect(read.value('flightdeck_page_views_total', { route: '/tasks/:taskId' })).toBe(2)
  expect(read.value('flightdeck_page_views_total', { route: 'other' })).toBe(1)
})

test('of what is appended, events, output, tokens, costs and ends are counted', async () => {
  const metrics = openMetrics()
  const printed = { executionId: executionId(1), attempt: 1, kind: 'turn', channel: 'stdout' } as const
  const used = { executionId: executionId(1), inputTokens: 5, outputTokens: 7, cacheReadTokens: 11 }
  metrics.emit(
    appending([
      placed(TerminalOutputRecorded.of(printed, { text: 'naïve' }), terminalStream(taskId(1))),
      placed(UsageRecorded.of({ ...used, cacheWriteTokens: 13, model: 'claude-opus-5-5', costUsd: 0.25 })),
      placed(ExecutionCompleted.of({ ...work, exitCode: null, terminal: null })),
      placed(
        ExecutionFailed.of(
          { ...work, code: 'c', exitCode: null, terminal: null, retryAt: null },
          { reason: 'r' },
        ),
      ),
    ]),
  )
  metrics.emit({ ...appending([]), events: 'conflict' })
  const read = readMetrics(await metrics.text())
  expect(read.value('flightdeck_output_recorded_bytes_total')).toBe(6)
  expect(read.value('flightdeck_events_appended_total', { type: 'UsageRecorded' })).toBe(1)
  expect(read.value('flightdeck_append_conflicts_total')).toBe(1)
  for (const [kind, tokens] of [
    ['input', 5],
    ['output', 7],
    ['cache_read', 11],
    ['cache_write', 13],
  ] as const)
    expect(read.value('flightdeck_model_tokens_total', { model: 'opus', kind })).toBe(tokens)
  expect(read.value('flightdeck_model_cost_dollars_total', { model: 'opus' })).toBe(0.25)
  expect(read.value('flightdeck_executions_ended_total', { outcome: 'completed' })).toBe(1)
  expect(read.value('flightdeck_executions_ended_total', { outcome: 'failed' })).toBe(1)
})

test('whatever a program calls its model, there are few kinds of it', () => {
  const names = [
    'claude-opus-5-5',
    'claude-sonnet-4-5-20250929',
    'flightdeck-scripted',
    'x'.repeat(200),
    null,
  ]
  expect(names.map(modelKind)).toEqual(['opus', 'sonnet', 'scripted', 'other', 'other'])
})

test('a method that nobody serves is no label of its own', async () => {
  const metrics = openMetrics()
  const asked = { requestId: randomUUID(), method: 'PROPFIND', route: 'unknown', status: 404 }
  metrics.emit({ kind: 'request', ...asked, ...period })
  const read = readMetrics(await metrics.text())
  const labels = { method: 'other', route: 'unknown', status: '4xx' }
  expect(read.value('flightdeck_http_request_seconds_count', labels)).toBe(1)
})

test('the lag is told by who projects, asked when somebody looks, and by nobody once it projects no more', async () => {
  const metrics = openMetrics()
  const lag = async () => {
    const read = readMetrics(await metrics.text())
    return [read.value('flightdeck_projection_lag_events'), read.value('flightdeck_projection_lag_seconds')]
  }
  expect(await lag()).toEqual([undefined, undefined])
  let events = 3
  metrics.emit({ kind: 'projector', lag: async () => ({ events, seconds: events / 2 }) })
  expect(await lag()).toEqual([3, 1.5])
  events = 0
  expect(await lag()).toEqual([0, 0])
  metrics.emit({ kind: 'projector', lag: () => Promise.reject(new Error('The log is away.')) })
  expect(await lag()).toEqual([undefined, undefined])
  metrics.emit({ kind: 'projector', lag: null })
  expect(await lag()).toEqual([undefined, undefined])
})

test('an engine that does not answer holds nothing up: what it would tell is left out', async () => {
  const metrics = openMetrics()
  metrics.emit({ kind: 'dispatcher', pending: () => new Promise(() => {}) })
  metrics.emit({ kind: 'rooms', open: 4 })
  const read = readMetrics(await metrics.text())
  expect(read.value('flightdeck_jobs_pending', { kind: 'execution' })).toBeUndefined()
  expect(read.value('flightdeck_socket_rooms_open')).toBe(4)
})

test('jobs, runs and live connections go up and down', async () => {
  const metrics = openMetrics()
  const { emit } = metrics
  emit({ kind: 'dispatcher', pending: async () => new Map([['execution', 2]]) })
  emit({ kind: 'run_begun', job: 'execution' })
  emit({ kind: 'run_begun', job: 'execution' })
  emit({ kind: 'run_ended', job: 'execution', origin: {}, ok: true, ...period })
  const ended = placed(ExecutionCompleted.of({ ...work, exitCode: null, terminal: null }))
  emit({ kind: 'queued', job: 'execution', event: { ...ended, content: null }, ...period })
  emit({ kind: 'delivery', job: 'execution', outcome: 'done' })
  for (const change of ['opened', 'opened', 'cut_off', 'closed'] as const) emit({ kind: 'socket', change })
  const text = await metrics.text()
  const read = readMetrics(text)
  expect(read.value('flightdeck_jobs_pending', { kind: 'execution' })).toBe(2)
  expect(read.value('flightdeck_runs_active', { kind: 'execution' })).toBe(1)
  expect(read.value('flightdeck_run_seconds_count', { kind: 'execution' })).toBe(1)
  expect(read.value('flightdeck_job_deliveries_total', { kind: 'execution', outcome: 'done' })).toBe(1)
  expect(read.value('flightdeck_sockets_open')).toBe(1)
  expect(read.value('flightdeck_sockets_cut_off_total')).toBe(1)
  // Prometheus puts its own labels of these names in the place of ours.
  expect(text).not.toMatch(/[{,](job|instance)=/)
})

test('two of them know nothing of each other', async () => {
  const [one, other] = [openMetrics(), openMetrics()]
  one.emit({ kind: 'rooms', open: 2 })
  expect(readMetrics(await other.text()).value('flightdeck_socket_rooms_open')).toBe(0)
})
