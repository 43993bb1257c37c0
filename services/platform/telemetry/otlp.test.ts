/** Spans are sent to a collector that accepts them, refuses them, or is down. */
import { afterEach, expect, test } from 'vitest'
import { startOtlpCollector, type OtlpCollector } from '../../../tests/standins/otlpCollector.ts'
import type { Span } from '#platform/telemetry/traces.ts'
import { openSpanSink, type SpanSink } from './otlp.ts'

let collector: OtlpCollector | undefined
let sink: SpanSink | undefined
afterEach(async () => {
  await sink?.close()
  await collector?.close()
})

const told: string[] = []
const opened = (endpoint: string): SpanSink => {
  told.length = 0
  sink = openSpanSink({
    endpoint,
    serviceName: 'flightdeck-command',
    onFault: (what) => void told.push(what),
  })
  return sink
}
const span = (n: number): Span => ({
  name: `command ${n}`,
  kind: 'internal',
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: n.toString(16).padStart(16, '0'),
  parentId: n === 1 ? null : '0000000000000001',
  begun: Date.UTC(2026, 0, 1) + 0.25,
  ended: Date.UTC(2026, 0, 1) + 1_000.5,
  ok: n !== 3,
  attributes: { outcome: 'done', count: n },
})

test('they come as OTLP has them, with their times to the microsecond', async () => {
  collector = await startOtlpCollector()
  const { send, close } = opened(collector.endpoint)
  for (const n of [1, 2, 3]) send(span(n))
  await close()
  expect(collector.faults).toEqual([])
  expect(collector.spans).toMatchObject([
    { name: 'command 1', parentSpanId: undefined, ok: true, service: 'flightdeck-command' },
    {
      name: 'command 2',
      parentSpanId: '0000000000000001',
      ok: true,
      attributes: { outcome: 'done', count: 2 },
    },
    { name: 'command 3', ok: false },
  ])
  const [first] = collector.spans
  expect(first && [first.begun, first.ended]).toEqual([1767225600000250000n, 1767225601000500000n])
})

test('they go by themselves, without an end', async () => {
  collector = await startOtlpCollector()
  opened(collector.endpoint).send(span(1))
  const spans = await collector.until('the span', ({ length }) => length > 0)
  expect(spans.map(({ name }) => name)).toEqual(['command 1'])
})

test('a collector that refuses is told of once, and more spans than the queue holds are dropped', async () => {
  collector = await startOtlpCollector()
  collector.refuse(400)
  const { send, close } = opened(collector.endpoint)
  for (let n = 1; n <= 10_000; n += 1) send(span(n))
  await close()
  expect(told).toEqual(['traces are lost: the collector does not take them'])
  const sent = collector.raw.reduce((count, body) => count + body.split('"spanId"').length - 1, 0)
  expect(sent).toBeLessThanOrEqual(4_096 + 512)
})

test('with a collector that is away the end comes all the same', async () => {
  const gone = await startOtlpCollector()
  await gone.close()
  const { send, close } = opened(gone.endpoint)
  send(span(1))
  await close()
  expect(gone.spans).toEqual([])
})
