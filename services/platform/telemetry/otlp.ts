/** Sends spans to a collector, by OTLP over HTTP, in batches. */
import { withinOr } from '#platform/async/timeLimit.ts'
import { SpanKind, SpanStatusCode, TraceFlags, type HrTime } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-base'
import type { Span } from '#platform/telemetry/traces.ts'

export interface SpanSink {
  /** Queues the span. If the queue is full because the collector is unavailable or slow, the span is dropped. */
  send(span: Span): void
  /** Sends the queued spans, for at most 2 seconds. */
  close(): Promise<void>
}

const maxQueued = 4_096
const batch = 512
const delayMs = 1_000
const exportMs = 5_000
const closeMs = 2_000
const complaintIntervalMs = 60_000

/** Sends to `<endpoint>/v1/traces`. `onFault` reports lost batches, at most once a minute. */
export function openSpanSink({
  endpoint,
  serviceName,
  onFault,
}: {
  endpoint: string
  serviceName: string
  onFault: (what: string, fault: unknown) => void
}): SpanSink {
  const resource = resourceFromAttributes({ 'service.name': serviceName })
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: exportMs })
  const processor = new BatchSpanProcessor(complaining(exporter, onFault), {
    maxQueueSize: maxQueued,
    maxExportBatchSize: batch,
    scheduledDelayMillis: delayMs,
    // Longer than the exporter's own limit, so that the exporter gives up first and reports the reason.
    exportTimeoutMillis: exportMs + 1_000,
  })
  return {
    send: (span) => processor.onEnd(readable(span, resource)),
    async close() {
      // The fault is dropped here, because the exporter reports lost spans itself.
      const shutDown = processor.shutdown().catch(() => undefined)
      await withinOr(closeMs, shutDown, undefined)
    },
  }
}

function complaining(exporter: SpanExporter, onFault: (what: string, fault: unknown) => void): SpanExporter {
  let complainedAt = Number.NEGATIVE_INFINITY
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const now = performance.now()
        if (result.code !== 0 && now - complainedAt > complaintIntervalMs) {
          complainedAt = now
          onFault('traces are lost: the collector does not take them', result.error)
        }
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  }
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const satisfies Record<Span['kind'], SpanKind>

function readable(span: Span, resource: ReadableSpan['resource']): ReadableSpan {
  const context = { traceId: span.traceId, traceFlags: TraceFlags.SAMPLED }
  return {
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => ({ ...context, spanId: span.spanId }),
    ...(span.parentId !== null && { parentSpanContext: { ...context, spanId: span.parentId } }),
    startTime: timeOf(span.begun),
    endTime: timeOf(span.ended),
    duration: timeOf(span.ended - span.begun),
    status: { code: span.ok ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
    attributes: span.attributes,
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: span.scope ?? { name: 'flightdeck' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

/** A time as seconds, and the nanoseconds since the last full second. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000)
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)]
}
