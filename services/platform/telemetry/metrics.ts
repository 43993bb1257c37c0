/**
 * Prometheus metrics from observations. Labels have few values, all of them ours: never an id, an address or a name that somebody chose. No label is
 * named `job` or `instance`, because Prometheus sets these itself.
 */
import { withinOr } from '#platform/async/timeLimit.ts'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { AnyRecorded } from '#domain/views/view.ts'
import type { Lag, Observation, Emit } from './telemetry.ts'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface Metrics {
  readonly emit: Emit
  readonly contentType: string
  /** All metrics in Prometheus' text format. Values that an engine does not return within a second are left out. */
  text(): Promise<string>
}

/** Buckets for the duration of requests, in seconds: from a read of cached data to a request that waits for a pull request. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const stepBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const runBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200]
const askedForMs = 1_000

function metricsIn(register: Registry) {
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
  return { counter, gauge, seconds }
}

function openInstruments(register: Registry) {
  const { counter, gauge, seconds } = metricsIn(register)
  return {
    requests: seconds('http_request', 'HTTP requests answered.', requestBuckets, [
      'method',
      'route',
      'status',
    ]),
    commands: counter('commands', 'Commands, by what came of them.', ['type', 'outcome']),
    commandSeconds: seconds('command', 'From a command to its outcome.', stepBuckets),
    appended: counter('events_appended', 'Events appended to the log.', ['type']),
    appendSeconds: seconds('append', 'Appends to the log.', stepBuckets),
    conflicts: counter('append_conflicts', 'Appends that another one came before.'),
    projected: counter('events_projected', 'Events folded into the read models.'),
    projectSeconds: seconds('projection_batch', 'Batches folded into the read models.', stepBuckets),
    queued: counter('jobs_queued', 'Jobs queued; one that is queued again counts again.', ['kind']),
    deliveries: counter('job_deliveries', 'Jobs that were taken, by what became of them.', [
      'kind',
      'outcome',
    ]),
    runsActive: gauge('runs_active', 'Runs under way in this process.', ['kind']),
    runSeconds: seconds('run', 'Runs, from the claim to the end.', runBuckets, ['kind']),
    runsEnded: counter('executions_ended', 'Turns and commands that ended.', ['outcome']),
    sockets: gauge('sockets_open', 'Live connections.'),
    rooms: gauge('socket_rooms_open', 'Tasks that somebody watches.'),
    messages: counter('socket_messages', 'Messages sent about events, over all viewers.'),
    cutOff: counter('sockets_cut_off', 'Viewers that were cut off since they read too slowly.'),
    pageViews: counter('page_views', 'Pages of the client that were viewed.', ['route']),
    output: counter('output_recorded_bytes', 'Terminal output recorded.'),
    tokens: counter('model_tokens', 'Tokens used.', ['model', 'kind']),
    dollars: counter('model_cost_dollars', "The agent's own estimate of what was used.", ['model']),
    sealedAt: gauge('log_sealed_timestamp_seconds', 'When the log was sealed last, in seconds since 1970.'),
    sealRefused: gauge(
      'log_seal_refused',
      '1 while the log is not sealed: it is not what was sealed before, or a seal cannot be written; else 0.',
    ),
    pulled: pulledGauges(gauge),
    server: countedBytes(
      counter('http_received_bytes', 'Bytes received on the port, sockets included.'),
      counter('http_sent_bytes', 'Bytes sent on the port, sockets included.'),
    ),
  }
}

type Instruments = ReturnType<typeof openInstruments>

/** Creates metrics that begin at zero, in a separate registry. */
export function openMetrics(): Metrics {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const instruments = openInstruments(register)
  return {
    emit: (observation) => observe(instruments, observation),
    contentType: register.contentType,
    async text() {
      instruments.server.collect()
      await instruments.pulled.collect()
      return register.metrics()
    },
  }
}

/** Records values about sealing, which only the process that seals has. */
function observeSealer(
  { sealedAt, sealRefused }: Instruments,
  state: Extract<Observation, { kind: 'sealer' }>['state'],
): void {
  if (state === null || state.sealedAt === null) sealedAt.remove()
  else sealedAt.set(state.sealedAt / 1_000)
  if (state === null) sealRefused.remove()
  else sealRefused.set(state.refused ? 1 : 0)
}

function countEvent(instruments: Instruments, event: AnyRecorded): void {
  instruments.appended.inc({ type: event.type })
  switch (event.type) {
    case 'ExecutionCompleted':
      return instruments.runsEnded.inc({ outcome: 'completed' })
    case 'ExecutionFailed':
      return instruments.runsEnded.inc({ outcome: 'failed' })
    case 'ExecutionCancelled':
      return instruments.runsEnded.inc({ outcome: 'cancelled' })
    case 'TerminalOutputRecorded':
    case 'ShellOutputRecorded':
      return instruments.output.inc(Buffer.byteLength(event.content?.text ?? ''))
    case 'UsageRecorded': {
      const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd } = event.data
      const model = modelKind(event.data.model)
      instruments.tokens.inc({ model, kind: 'input' }, inputTokens)
      instruments.tokens.inc({ model, kind: 'output' }, outputTokens)
      instruments.tokens.inc({ model, kind: 'cache_read' }, cacheReadTokens)
      instruments.tokens.inc({ model, kind: 'cache_write' }, cacheWriteTokens)
      return instruments.dollars.inc({ model }, costUsd)
    }
    default:
  }
}

function observe(instruments: Instruments, observation: Observation): void {
  switch (observation.kind) {
    case 'request': {
      const { method, route, status } = observation
      const labels = { method: knownMethod(method), route, status: statusClass(status) }
      return instruments.requests.observe(labels, secondsOf(observation))
    }
    case 'command':
      instruments.commands.inc({ type: observation.type, outcome: observation.outcome })
      return instruments.commandSeconds.observe(secondsOf(observation))
    case 'append':
      if (observation.events === 'conflict') return instruments.conflicts.inc()
      if (observation.events === 'fault') return
      observation.events.forEach((event) => countEvent(instruments, event))
      return instruments.appendSeconds.observe(secondsOf(observation))
    case 'projected':
      instruments.projected.inc(observation.events.length)
      return instruments.projectSeconds.observe(secondsOf(observation))
    case 'messages_sent':
    case 'messages_replayed':
      return instruments.messages.inc(observation.messages)
    case 'rooms':
      return instruments.rooms.set(observation.open)
    case 'socket':
      if (observation.change === 'opened') return instruments.sockets.inc()
      return observation.change === 'closed' ? instruments.sockets.dec() : instruments.cutOff.inc()
    case 'queued':
      return instruments.queued.inc({ kind: observation.job })
    case 'delivery':
      return instruments.deliveries.inc({ kind: observation.job, outcome: observation.outcome })
    case 'run_begun':
      return instruments.runsActive.inc({ kind: observation.job })
    case 'run_ended':
      instruments.runsActive.dec({ kind: observation.job })
      return instruments.runSeconds.observe({ kind: observation.job }, secondsOf(observation))
    case 'projector':
      instruments.pulled.lag = observation.lag
      return
    case 'dispatcher':
      instruments.pulled.pending = observation.pending
      return
    case 'sealer':
      return observeSealer(instruments, observation.state)
    case 'model_call':
      // Usage of models is counted when it is recorded, not here.
      return
    case 'page_viewed':
      return instruments.pageViews.inc({ route: observation.route })
    case 'server':
      return instruments.server.count(observation.http)
  }
}

/** Gauges whose values are requested only when the metrics are read. */
function pulledGauges(
  gauge: <L extends string = never>(name: string, help: string, labelNames?: readonly L[]) => Gauge<L>,
) {
  const lagEvents = gauge('projection_lag_events', 'Events that are not projected yet, up to 1000.')
  const lagSeconds = gauge('projection_lag_seconds', 'Age of the oldest event that is not projected yet.')
  const waiting = gauge('jobs_pending', 'Jobs that are queued or under way, in all processes.', ['kind'])
  return {
    lag: null as (() => Promise<Lag>) | null,
    pending: null as (() => Promise<ReadonlyMap<string, number>>) | null,
    async collect() {
      const [lag, jobs] = await Promise.all([told(this.lag), told(this.pending)])
      // Without a projector there is no value: an old value, or zero, would say that all is well.
      lagEvents.remove()
      lagSeconds.remove()
      waiting.reset()
      if (lag) {
        lagEvents.set(lag.events)
        lagSeconds.set(lag.seconds)
      }
      for (const [kind, count] of jobs ?? []) waiting.set({ kind }, count)
    },
  }
}

/** The result of `ask`; `undefined` when `ask` is `null`, fails, or takes longer than `askedForMs`. */
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

/**
 * The family of a model, such as `opus`, by the model's name. The name itself comes from a program in the sandbox, so it must not become a label of a
 * metric.
 */
export function modelKind(name: string | null): string {
  const kind = /opus|sonnet|haiku/.exec(name ?? '')?.[0]
  return kind ?? (name === 'flightdeck-scripted' ? 'scripted' : 'other')
}

interface ByteCounter {
  inc(by: number): void
}

/**
 * Counts the bytes that servers' connections receive and send, WebSockets included. The counts are updated by `collect`, and when a connection
 * closes.
 */
function countedBytes(received: ByteCounter, sent: ByteCounter) {
  const open = new Map<Socket, { received: number; sent: number }>()

  function catchUp(connection: Socket, counted: { received: number; sent: number }): void {
    const now = { received: connection.bytesRead, sent: connection.bytesWritten }
    received.inc(Math.max(now.received - counted.received, 0))
    sent.inc(Math.max(now.sent - counted.sent, 0))
    Object.assign(counted, now)
  }

  return {
    count(http: Server): void {
      http.on('connection', (connection: Socket) => {
        const counted = { received: 0, sent: 0 }
        open.set(connection, counted)
        connection.once('close', () => {
          catchUp(connection, counted)
          open.delete(connection)
        })
      })
    },
    collect(): void {
      for (const [connection, counted] of open) catchUp(connection, counted)
    },
  }
}
