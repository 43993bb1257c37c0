/** Opens what the configuration asks for: metrics, traces, both or neither. What is not asked for is not even loaded. */
import type { Config } from '#platform/config.ts'
import type { Logger } from '#platform/log.ts'
import type { Metrics } from '#platform/metrics.ts'
import { spansOf, type Door } from '#platform/traces.ts'
import { processName } from './name.ts'
import { watchers, type Watch } from './watch.ts'

export interface Watching {
  readonly watch: Watch
  readonly metrics: Metrics | null
  /** Sends the traces that wait, for 2 seconds at most. */
  close(): Promise<void>
}

/** `services` none: nobody watches, as in an operation. */
export async function openWatching(
  { services, metricsPort, otlpEndpoint }: Pick<Config, 'services' | 'metricsPort' | 'otlpEndpoint'>,
  logger: Logger,
): Promise<Watching> {
  const isServing = services.size > 0
  const metrics =
    isServing && metricsPort !== null ? (await import('#platform/metrics.ts')).openMetrics() : null
  const traces = isServing && otlpEndpoint !== null ? await openTraces(services, otlpEndpoint, logger) : null
  return {
    watch: watchers([...(metrics ? [metrics.watch] : []), ...(traces ? [traces.watch] : [])]),
    metrics,
    close: async () => traces?.close(),
  }
}

async function openTraces(services: Config['services'], endpoint: string, logger: Logger) {
  const { openSpanSink } = await import('./otlp.ts')
  const door: Door = services.has('gateway') ? 'gateway' : 'service'
  const sink = openSpanSink({
    endpoint,
    serviceName: processName(services),
    onFault: (what, fault) => logger.warn({ err: fault }, what),
  })
  const watch: Watch = (observation) => {
    for (const span of spansOf(observation, door)) sink.send(span)
  }
  return { watch, close: () => sink.close() }
}
