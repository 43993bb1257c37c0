/** Telemetry: metrics, traces and the log of the real product tell what happened, and nothing private. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createTask, listTasks, type Task } from '#domain/api/tasks.schema.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { openSqliteEventStore } from '#platform/eventstore/sqlite.ts'
import type { Live } from '../product/live.ts'
import { personWith } from '../product/person.ts'
import { freePortsFor } from '../freePorts.ts'
import { apiKey } from '../product.ts'
import { startOtlpCollector, type CollectedSpan, type OtlpCollector } from '../standins/otlpCollector.ts'
import { readMetrics, type ReadMetrics } from '../standins/prometheus.ts'
import { eventually } from './engines.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'
import { intact } from '#platform/ports/eventStore.ts'

const description = 'Words-of-a-person about the engine'
const command = 'echo words-of-an-agent && echo more >> README.md'

let scene: Scene
let collector: OtlpCollector
let metricsAt = ''
let live: Live
let task: Task
/** Of the `POST /tasks`. */
let requestId = ''

async function metrics(): Promise<ReadMetrics> {
  return readMetrics(await (await fetch(metricsAt)).text())
}

beforeAll(async () => {
  collector = await startOtlpCollector()
  const [port = 0] = await freePortsFor(1)
  metricsAt = `http://127.0.0.1:${port}/metrics`
  scene = await openScene(
    [
      {
        turns: [
          { tools: [{ name: 'Bash', input: { command, description: 'Say it' } }] },
          { text: 'words-of-a-model' },
        ],
      },
    ],
    {
      env: {
        METRICS_PORT: String(port),
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
        LOG_LEVEL: 'debug',
      },
    },
  )
  const { ada, projectId } = scene
  live = await ada.socket()
  const body = { description, projectId, branch: 'main', agent: 'claude' }
  const headers = {
    'idempotency-key': 'a-key-of-somebody',
    'x-request-id': '00000000-0000-4000-8000-000000000001',
  }
  const answer = await ada.api('POST', '/tasks', body, headers)
  requestId = answer.headers.get('x-request-id') ?? ''
  task = createTask.answer.parse(answer.body).task
  await live.join(task.id, null)
  await ada.taskOnce(task.id, hasEnded)
})
afterAll(async () => {
  live?.close()
  await scene?.close()
  await collector?.close()
})

describe('metrics', () => {
  test('count what happened: requests, commands, events, jobs, runs, sockets and bytes', async () => {
    // The run is over a moment after its task.
    await vi.waitFor(async () =>
      expect((await metrics()).value('flightdeck_run_seconds_count', { kind: 'execution' })).toBe(1),
    )
    const read = await metrics()
    const posted = { method: 'POST', route: '/api/tasks', status: '2xx' }
    expect(read.value('flightdeck_http_request_seconds_count', posted)).toBe(1)
    expect(read.value('flightdeck_commands_total', { type: 'CreateTask', outcome: 'done' })).toBe(1)
    expect(read.value('flightdeck_events_appended_total', { type: 'TaskCreated' })).toBe(1)
    expect(read.value('flightdeck_executions_ended_total', { outcome: 'completed' })).toBe(1)
    expect(read.value('flightdeck_jobs_queued_total', { kind: 'execution' })).toBe(1)
    expect(read.value('flightdeck_runs_active', { kind: 'execution' })).toBe(0)
    expect(read.value('flightdeck_sockets_open')).toBe(1)
    expect(read.value('flightdeck_socket_rooms_open')).toBe(1)
    const counted = [
      'flightdeck_http_received_bytes_total',
      'flightdeck_http_sent_bytes_total',
      'flightdeck_output_recorded_bytes_total',
      'flightdeck_socket_messages_total',
      'flightdeck_events_projected_total',
      'process_cpu_seconds_total',
    ]
    expect(counted.filter((name) => !((read.value(name) ?? 0) > 0))).toEqual([])
  })

  test('count the pages that were viewed, by anybody, and never an id', async () => {
    const anybody = personWith(scene.product.base, undefined)
    const view = (body: unknown) => anybody.api('POST', '/page-views', body)
    for (const route of ['/tasks/:taskId', `/tasks/${task.id}`, '/settings', '/what/somebody/made/up'])
      expect(await view({ route })).toMatchObject({ status: 200 })
    expect(await view({ route: 'x'.repeat(201) })).toMatchObject({ status: 400 })
    expect(await view({})).toMatchObject({ status: 400 })
    const read = await metrics()
    const viewed = (route: string) => read.value('flightdeck_page_views_total', { route })
    expect([viewed('/tasks/:taskId'), viewed('/settings'), viewed('other')]).toEqual([2, 1, 1])
    expect(read.sum('flightdeck_page_views_total', {})).toBe(4)
  })

  test('tell the tokens and the cost of a run, as the log has them', async () => {
    const used = live
      .of('task_event')
      .flatMap((event) => (event.type === 'UsageRecorded' ? [event.data] : []))
    const read = await metrics()
    const tokens = (kind: string) => read.sum('flightdeck_model_tokens_total', { kind })
    const sum = (of: (usage: (typeof used)[number]) => number) =>
      used.reduce((total, usage) => total + of(usage), 0)
    expect(sum((usage) => usage.inputTokens + usage.outputTokens)).toBeGreaterThan(0)
    expect(tokens('input')).toBe(sum((usage) => usage.inputTokens))
    expect(tokens('output')).toBe(sum((usage) => usage.outputTokens))
    expect(tokens('cache_read')).toBe(sum((usage) => usage.cacheReadTokens))
    expect(read.sum('flightdeck_model_cost_dollars_total')).toBeCloseTo(
      sum((usage) => usage.costUsd),
      9,
    )
  })

  test('tell that nothing is behind once nothing is', async () => {
    const behind = async () => {
      const read = await metrics()
      const lag = ['events', 'seconds'].map((unit) => read.value(`flightdeck_projection_lag_${unit}`))
      return [...lag, read.value('flightdeck_jobs_pending', { kind: 'execution' })]
    }
    await vi.waitFor(async () => expect(await behind()).toEqual([0, 0, 0]))
  })

  test('have names and labels as Prometheus wants them, and no id, address or word of anybody in a label', async () => {
    const read = await metrics()
    const ours = read.samples.filter(({ name }) => name.startsWith('flightdeck_'))
    expect(ours.length).toBeGreaterThan(50)
    for (const [name, kind] of read.kinds) {
      if (!name.startsWith('flightdeck_')) continue
      expect(name.endsWith('_total')).toBe(kind === 'counter')
      expect(name.endsWith('_seconds') || kind !== 'histogram').toBe(true)
    }
    const labels = new Set(ours.flatMap((sample) => Object.values(sample.labels)))
    for (const value of labels) expect(value).toMatch(/^(\+Inf|[\w.]{1,40}|(\/:?[\w.-]+)+)$/)
    expect([...labels].filter((value) => /[0-9a-f]{8}-|words-of|ada/i.test(value))).toEqual([])
  })

  test('are on their own port alone, and nothing else is there', async () => {
    const page = await (await fetch(`${scene.product.base}/metrics`)).text()
    expect(page).not.toContain('flightdeck_')
    const { status } = await fetch(new URL('/api/tasks', metricsAt), {
      headers: { authorization: `Bearer ${scene.ada.token}` },
    })
    expect(status).toBe(404)
  })
})

describe('the trace of a POST /tasks', () => {
  const traceOf = (spans: readonly CollectedSpan[]) =>
    spans.filter(({ traceId }) => traceId === requestId.replaceAll('-', ''))
  const wanted = [
    'POST /api/tasks',
    'command CreateTask',
    'project TaskCreated',
    'say TaskCreated',
    'queue execution',
    'run execution',
    'command StartExecution',
    'command EndExecution',
    'project ExecutionCompleted',
    'say ExecutionCompleted',
  ]
  /** Spans whose parent is not there; it ends after them, and may be sent after them. */
  const looseIn = (spans: readonly CollectedSpan[]) => {
    const ids = new Set(spans.map(({ spanId }) => spanId))
    return spans.filter(({ parentSpanId }) => parentSpanId !== undefined && !ids.has(parentSpanId))
  }
  let trace: readonly CollectedSpan[] = []
  beforeAll(async () => {
    const isWhole = (spans: readonly CollectedSpan[]) => {
      const names = new Set(traceOf(spans).map(({ name }) => name))
      return wanted.every((name) => names.has(name)) && looseIn(traceOf(spans)).length === 0
    }
    trace = traceOf(await collector.until('the whole trace', isWhole))
  })

  /** The names from the root down to the first span of this name. */
  function wayTo(name: string): readonly string[] {
    const way: string[] = []
    let span = trace.find((one) => one.name === name)
    while (span) {
      way.unshift(span.name)
      const { parentSpanId } = span
      span = trace.find(({ spanId }) => spanId === parentSpanId)
    }
    return way
  }

  test('leads from the request by its command to what was appended, to the projection and to the socket', () => {
    const way = ['POST /api/tasks', 'command CreateTask', 'append']
    expect(wayTo('project TaskCreated')).toEqual([...way, 'project TaskCreated'])
    expect(wayTo('say TaskCreated')).toEqual([...way, 'say TaskCreated'])
    const run = [...way, 'queue execution', 'run execution']
    expect(wayTo('command EndExecution')).toEqual([...run, 'command EndExecution'])
    const end = [...run, 'command EndExecution', 'append']
    expect(wayTo('say ExecutionCompleted')).toEqual([...end, 'say ExecutionCompleted'])
  })

  test('has one root, no span twice, and no span that hangs in the air', () => {
    const ids = new Set(trace.map(({ spanId }) => spanId))
    expect(ids.size).toBe(trace.length)
    expect(trace.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name)).toEqual([
      'POST /api/tasks',
    ])
    expect(looseIn(trace).map(({ name }) => name)).toEqual([])
    for (const { begun, ended } of trace) expect(ended).toBeGreaterThanOrEqual(begun)
  })

  test('is as OTLP has it, and tells nothing that anybody wrote', () => {
    expect(collector.faults).toEqual([])
    const sent = collector.raw.join('\n')
    for (const secret of ['ords-of-a', 'Ada Lovelace', scene.ada.token, apiKey, 'README', 'engine'])
      expect(sent).not.toContain(secret)
    expect(sent).toContain('CreateTask')
    // The conventions for generative AI have to be asked for.
    expect(sent).not.toContain('gen_ai')
    expect(new Set(collector.spans.map(({ scope }) => scope))).toEqual(new Set(['flightdeck']))
  })
})

describe('the log of the program', () => {
  const lines = () =>
    scene.product.logs.stderr
      .split('\n')
      // The last one may still be on its way.
      .slice(0, -1)
      .map((line): Record<string, unknown> => JSON.parse(line))

  test('has one line of a request, under the id that its answer tells, with who asked and not what', async () => {
    const { ada, projectId } = scene
    await ada.ask(listTasks, { query: { project: projectId, limit: '3' } })
    const before = { requestId: '00000000-0000-4000-8000-000000000001' }
    expect(lines().filter((line) => line['requestId'] === before.requestId)).toEqual([])
    await eventually('the lines are there', () =>
      lines().some(({ method, route }) => method === 'GET' && route === '/api/tasks'),
    )
    const posted = lines().filter((line) => line['requestId'] === requestId && line['msg'] === 'request')
    expect(posted).toMatchObject([
      { method: 'POST', route: '/api/tasks', status: 201, userId: task.owner, service: 'flightdeck' },
    ])
    // What its run says is under the same id.
    const run = lines().filter(({ msg }) => msg === 'run started' || msg === 'run ended')
    expect(run).toMatchObject([
      { requestId, taskId: task.id },
      { requestId, taskId: task.id, ok: true },
    ])
  })

  test('has no secret, no query, and no word of anybody, also at the level debug', () => {
    const { stderr } = scene.product.logs
    for (const secret of [
      scene.ada.token,
      apiKey,
      'Bearer',
      'a-key-of-somebody',
      'ords-of-a',
      'limit=3',
      'code=',
      'state=',
      'token=',
    ])
      expect(stderr).not.toContain(secret)
    expect(lines().filter(({ msg }) => msg === 'request').length).toBeGreaterThan(5)
  })
})

test('what was traced last is sent before the product ends', async () => {
  const { ada, product } = scene
  const { headers } = await ada.api('GET', '/auth/me')
  await product.terminate()
  const traceId = headers.get('x-request-id')?.replaceAll('-', '')
  const last = collector.spans.filter((span) => span.traceId === traceId)
  expect(last.map(({ name }) => name)).toEqual(['GET /api/auth/me'])
  await product.restart()
})

test('all events of the first turn go back to the request, and what the run reports to what asked for it', async () => {
  const { product } = scene
  await product.terminate()
  const store = openSqliteEventStore({ file: join(product.dataDir, 'events.sqlite'), onFault: () => {} })
  const all = async (stream: string): Promise<readonly StoredEvent[]> =>
    intact(await store.readStream(stream, { from: 0, direction: 'forwards', limit: 10_000 }))
  try {
    const events = [...(await all(taskStream(task.id))), ...(await all(terminalStream(task.id)))]
    const types = new Set(events.map(({ type }) => type))
    for (const type of ['TaskCreated', 'ExecutionCompleted', 'UsageRecorded', 'TerminalOutputRecorded'])
      expect(types).toContain(type)
    expect(new Set(events.map(({ meta }) => meta.correlationId))).toEqual(new Set([requestId]))
    const asked = events.find(({ type }) => type === 'ExecutionRequested')
    const reported = events.filter(({ meta }) => meta.actor.kind === 'system')
    expect(reported.length).toBeGreaterThan(5)
    expect(new Set(reported.map(({ meta }) => meta.causationId))).toEqual(new Set([asked?.id]))
  } finally {
    await store.close()
  }
  await product.restart()
})
