/** Prometheus metrics out of what was observed. Labels have few values, all of them ours: never an id, an address or a name that somebody chose. */
import { withinOr } from '#platform/async/timeLimit.ts'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { AnyRecorded } from '#domain/views/view.ts'
import { countedBytes } from './connections.ts'
import type { Lag, Observation, Emit } from './telemetry.ts'

export interface Metrics {
  readonly emit: Emit
  readonly contentType: string
  /** All metrics in Prometheus' text form. What an engine does not tell within a second is left out. */
  text(): Promise<string>
}

/** Seconds: from an answer out of memory to one that waited for a pull request. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const stepBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const runBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200]
const askedForMs = 1_000

/** Metrics that begin at zero, in a registry of their own. */
export function openMetrics(): Metrics {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const counter = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name: `flightdeck_${name}_total`, help, labelNames, registers: [register] })
  const gauge = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name: `flightdeck_${name}`, help, labelNames, registers: [register] })
  const seconds = <L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[] = [],
  ) =>
    new Histogram<L>({
      name: `flightdeck_${name}_seconds`,
      help,
      buckets,
      labelNames,
      registers: [register],
    })

  const requests = seconds('http_request', 'HTTP requests answered.', requestBuckets, [
    'method',
    'route',
    'status',
  ])
  const commands = counter('commands', 'Commands, by what came of them.', ['type', 'outcome'])
  const commandSeconds = seconds('command', 'From a command to its outcome.', stepBuckets)
  const appended = counter('events_appended', 'Events appended to the log.', ['type'])
  const appendSeconds = seconds('append', 'Appends to the log.', stepBuckets)
  const conflicts = counter('append_conflicts', 'Appends that another one came before.')
  const projected = counter('events_projected', 'Events folded into the read models.')
  const projectSeconds = seconds('projection_batch', 'Batches folded into the read models.', stepBuckets)
  const queued = counter('jobs_queued', 'Jobs queued; one that is queued again counts again.', ['job'])
  const deliveries = counter('job_deliveries', 'Jobs that were taken, by what became of them.', [
    'job',
    'outcome',
  ])
  const runsActive = gauge('runs_active', 'Runs under way in this process.', ['job'])
  const runSeconds = seconds('run', 'Runs, from the claim to the end.', runBuckets, ['job'])
  const runsEnded = counter('executions_ended', 'Turns and commands that ended.', ['outcome'])
  const sockets = gauge('sockets_open', 'Live connections.')
  const rooms = gauge('socket_rooms_open', 'Tasks that somebody watches.')
  const sayings = counter('socket_sayings', 'What was said of events, over all viewers.')
  const cutOff = counter('sockets_cut_off', 'Viewers that were cut off since they read too slowly.')
  const pageViews = counter('page_views', 'Pages of the client that were viewed.', ['route'])
  const output = counter('output_recorded_bytes', 'Terminal output recorded.')
  const tokens = counter('model_tokens', 'Tokens used.', ['model', 'kind'])
  const dollars = counter('model_cost_dollars', "The agent's own estimate of what was used.", ['model'])

  const pulled = pulledGauges(gauge)
  const server = countedBytes(
    counter('http_received_bytes', 'Bytes received on the port, sockets included.'),
    counter('http_sent_bytes', 'Bytes sent on the port, sockets included.'),
  )

  function count(event: AnyRecorded): void {
    appended.inc({ type: event.type })
    switch (event.type) {
      case 'ExecutionCompleted':
        return runsEnded.inc({ outcome: 'completed' })
      case 'ExecutionFailed':
        return runsEnded.inc({ outcome: 'failed' })
      case 'ExecutionCancelled':
        return runsEnded.inc({ outcome: 'cancelled' })
      case 'TerminalOutputRecorded':
        return output.inc(Buffer.byteLength(event.content?.text ?? ''))
      case 'UsageRecorded': {
        const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd } = event.data
        const model = modelKind(event.data.model)
        tokens.inc({ model, kind: 'input' }, inputTokens)
        tokens.inc({ model, kind: 'output' }, outputTokens)
        tokens.inc({ model, kind: 'cache_read' }, cacheReadTokens)
        tokens.inc({ model, kind: 'cache_write' }, cacheWriteTokens)
        return dollars.inc({ model }, costUsd)
      }
      default:
    }
  }

  function emit(observation: Observation): void {
    switch (observation.kind) {
      case 'request': {
        const { method, route, status } = observation
        const labels = { method: knownMethod(method), route, status: statusClass(status) }
        return requests.observe(labels, secondsOf(observation))
      }
      case 'command':
        commands.inc({ type: observation.type, outcome: observation.outcome })
        return commandSeconds.observe(secondsOf(observation))
      case 'append':
        if (observation.events === 'conflict') return conflicts.inc()
        if (observation.events === 'fault') return
        observation.events.forEach(count)
        return appendSeconds.observe(secondsOf(observation))
      case 'projected':
        projected.inc(observation.events.length)
        return projectSeconds.observe(secondsOf(observation))
      case 'said':
      case 'replayed':
        return sayings.inc(observation.sayings)
      case 'rooms':
        return rooms.set(observation.open)
      case 'socket':
        if (observation.change === 'opened') return sockets.inc()
        return observation.change === 'closed' ? sockets.dec() : cutOff.inc()
      case 'queued':
        return queued.inc({ job: observation.job })
      case 'delivery':
        return deliveries.inc({ job: observation.job, outcome: observation.outcome })
      case 'run_begun':
        return runsActive.inc({ job: observation.job })
      case 'run_ended':
        runsActive.dec({ job: observation.job })
        return runSeconds.observe({ job: observation.job }, secondsOf(observation))
      case 'projector':
        pulled.lag = observation.lag
        return
      case 'dispatcher':
        pulled.pending = observation.pending
        return
      case 'page_viewed':
        return pageViews.inc({ route: observation.route })
      case 'server':
        return server.count(observation.http)
    }
  }

  return {
    emit,
    contentType: register.contentType,
    async text() {
      server.collect()
      await pulled.collect()
      return register.metrics()
    },
  }
}

/** What is asked for only when somebody looks. */
function pulledGauges(
  gauge: <L extends string = never>(name: string, help: string, labelNames?: readonly L[]) => Gauge<L>,
) {
  const lagEvents = gauge('projection_lag_events', 'Events that are not projected yet, up to 1000.')
  const lagSeconds = gauge('projection_lag_seconds', 'Age of the oldest event that is not projected yet.')
  const waiting = gauge('jobs_pending', 'Jobs that are queued or under way, in all processes.', ['job'])
  return {
    lag: null as (() => Promise<Lag>) | null,
    pending: null as (() => Promise<ReadonlyMap<string, number>>) | null,
    async collect() {
      const [lag, jobs] = await Promise.all([told(this.lag), told(this.pending)])
      // Without anybody to tell them there is no value: an old one, or a zero, would say that all is well.
      lagEvents.remove()
      lagSeconds.remove()
      waiting.reset()
      if (lag) {
        lagEvents.set(lag.events)
        lagSeconds.set(lag.seconds)
      }
      for (const [job, count] of jobs ?? []) waiting.set({ job }, count)
    },
  }
}

/** The answer, or `undefined` when there is none in time. */
async function told<T>(ask: (() => Promise<T>) | null): Promise<T | undefined> {
  if (ask === null) return undefined
  return withinOr(
    askedForMs,
    ask().catch(() => undefined),
    undefined,
  )
}

const secondsOf = ({ begun, ended }: { begun: number; ended: number }): number => (ended - begun) / 1_000

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const knownMethod = (method: string): string => (methods.has(method) ? method : 'other')

function statusClass(status: number | 'gone'): string {
  return status === 'gone' ? 'gone' : `${Math.floor(status / 100)}xx`
}

/** The kind of a model by its name, which a program in the box has told us. */
export function modelKind(name: string | null): string {
  const kind = /opus|sonnet|haiku/.exec(name ?? '')?.[0]
  return kind ?? (name === 'flightdeck-scripted' ? 'scripted' : 'other')
}
