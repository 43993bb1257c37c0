/** Opens what the configuration asks for: metrics, traces, both or neither. What is not asked for is not even loaded. */
import type { Config } from '#platform/config/config.ts'
import type { Logger } from '#platform/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import { spansOf, type ServerKind } from '#platform/telemetry/traces.ts'
import { processName } from './name.ts'
import { emitToAll, type Emit } from './telemetry.ts'

export interface Telemetry {
  readonly emit: Emit
  readonly metrics: Metrics | null
  /** Sends the traces that wait, for 2 seconds at most. */
  close(): Promise<void>
}

/** `services` none: nobody watches, as in an operation. */
export async function openTelemetry(
  { services, metricsPort, otlpEndpoint }: Pick<Config, 'services' | 'metricsPort' | 'otlpEndpoint'>,
  logger: Logger,
): Promise<Telemetry> {
  const isServing = services.size > 0
  const metrics =
    isServing && metricsPort !== null ? (await import('#platform/telemetry/metrics.ts')).openMetrics() : null
  const traces = isServing && otlpEndpoint !== null ? await openTraces(services, otlpEndpoint, logger) : null
  return {
    emit: emitToAll([...(metrics ? [metrics.emit] : []), ...(traces ? [traces.emit] : [])]),
    metrics,
    close: async () => traces?.close(),
  }
}

async function openTraces(services: Config['services'], endpoint: string, logger: Logger) {
  const { openSpanSink } = await import('./otlp.ts')
  const serverKind: ServerKind = services.has('gateway') ? 'gateway' : 'service'
  const sink = openSpanSink({
    endpoint,
    serviceName: processName(services),
    onFault: (what, fault) => logger.warn({ err: fault }, what),
  })
  const emit: Emit = (observation) => {
    for (const span of spansOf(observation, serverKind)) sink.send(span)
  }
  return { emit, close: () => sink.close() }
}
