/** Opens the telemetry that is configured: metrics, traces, both or neither. Code for a part that is not configured is not loaded. */
import type { Config } from '#platform/config/config.ts'
import type { Logger } from '#platform/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import { spansOf, type ServerKind } from '#platform/telemetry/traces.ts'
import { namedServices, serviceNames, type ServiceName } from '#platform/config/variables.ts'
import { emitToAll, type Emit } from './telemetry.ts'

export interface Telemetry {
  readonly emit: Emit
  readonly metrics: Metrics | null
  /** Sends the waiting traces, for at most 2 seconds. */
  close(): Promise<void>
}

/** Opens telemetry. A process without services, such as an operator's command, gets none. */
export async function setUpTelemetry(
  config: Pick<Config, 'services' | 'metricsPort' | 'otlpEndpoint' | 'genAiTraces'>,
  logger: Logger,
): Promise<Telemetry> {
  const { services, metricsPort, otlpEndpoint, genAiTraces } = config
  const isServing = services.size > 0
  const metrics =
    isServing && metricsPort !== null ? (await import('#platform/telemetry/metrics.ts')).openMetrics() : null
  const traces =
    isServing && otlpEndpoint !== null
      ? await openTraces({ services, genAiTraces, endpoint: otlpEndpoint }, logger)
      : null
  return {
    emit: emitToAll([...(metrics ? [metrics.emit] : []), ...(traces ? [traces.emit] : [])]),
    metrics,
    close: async () => traces?.close(),
  }
}

async function openTraces(
  {
    services,
    genAiTraces,
    endpoint,
  }: Pick<Config, 'services' | 'genAiTraces'> & { readonly endpoint: string },
  logger: Logger,
) {
  const { openSpanSink } = await import('./otlp.ts')
  const serverKind: ServerKind = services.has('gateway') ? 'gateway' : 'service'
  const sink = openSpanSink({
    endpoint,
    serviceName: processName(services),
    onFault: (what, fault) => logger.warn({ err: fault }, what),
  })
  const genAi = genAiTraces ? (await import('./genAi.ts')).genAiSpans() : undefined
  const emit: Emit = (observation) => {
    for (const span of spansOf(observation, serverKind)) sink.send(span)
    for (const span of genAi?.(observation) ?? []) sink.send(span)
  }
  return { emit, close: () => sink.close() }
}

/** The name of a process in logs and traces: `flightdeck`, or for example `flightdeck-command` when services run separately. */
export function processName(services: ReadonlySet<ServiceName>): string {
  const isWhole = serviceNames.every((name) => name === 'codehost' || services.has(name))
  return ['flightdeck', ...(isWhole ? [] : namedServices(services))].join('-')
}
