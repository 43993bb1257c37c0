/** Telemetry of services in processes of their own: one request has one id and one trace in all of them, and each process reports its own metrics. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTask } from '#domain/api/tasks.schema.ts'
import { servicesApart, type ServiceApart } from '../../product/servicesApart.ts'
import { freePortsFor } from '../../freePorts.ts'
import { forMongo } from '../../servers/sharedEngines.ts'
import { startOtlpCollector, type CollectedSpan, type OtlpCollector } from '../../standins/otlpCollector.ts'
import { readMetrics, type ReadMetrics } from '../../standins/prometheus.ts'
import { changeSomething, openApartScene, type ApartScene } from '../../server/apartScene.ts'
import { eventually } from '../../server/engines.ts'
import { hasEnded } from '../../server/scene.ts'

const mongo = await forMongo()

describe.skipIf('missing' in mongo)('services apart', () => {
  let scene: ApartScene
  let collector: OtlpCollector
  let ports: Readonly<Record<ServiceApart, number>>
  let requestId = ''
  beforeAll(async () => {
    if ('missing' in mongo) return
    collector = await startOtlpCollector()
    const [codehost = 0, command = 0, query = 0, gateway = 0, runner = 0] = await freePortsFor(5)
    ports = { codehost, command, query, gateway, runner }
    scene = await openApartScene(
      mongo.server,
      [changeSomething],
      {},
      {
        env: { LOG_LEVEL: 'info', OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint },
        envOf: (service) => ({ METRICS_PORT: String(ports[service]) }),
      },
    )
    const { ada, projectId } = scene
    const live = await ada.socket()
    const body = { description: 'Change something', projectId, branch: 'main', agent: 'claude' }
    const answer = await ada.api('POST', '/tasks', body)
    requestId = answer.headers.get('x-request-id') ?? ''
    const { task } = createTask.answer.parse(answer.body)
    await ada.taskOnce(task.id, hasEnded)
    live.close()
  })
  afterAll(async () => {
    await scene?.close()
    await collector?.close()
  })

  const linesOf = (service: ServiceApart) =>
    (scene.product.of[service][0]?.logs.stderr ?? '')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line): Record<string, unknown> => JSON.parse(line))

  async function metricsOf(service: ServiceApart): Promise<ReadMetrics> {
    return readMetrics(await (await fetch(`http://127.0.0.1:${ports[service]}/metrics`)).text())
  }

  test('say what they do for a request under the one id that its answer told', async () => {
    await eventually('each has its line', () =>
      (['gateway', 'command', 'runner'] as const).every((service) =>
        linesOf(service).some((line) => line['requestId'] === requestId),
      ),
    )
    const line = { method: 'POST', route: '/api/tasks', status: 201, msg: 'request' }
    const [atGateway, atCommand] = (['gateway', 'command'] as const).map((service) =>
      linesOf(service).filter((one) => one['requestId'] === requestId && one['msg'] === 'request'),
    )
    expect(atGateway).toMatchObject([{ ...line, service: 'flightdeck-gateway' }])
    expect(atCommand).toMatchObject([{ ...line, service: 'flightdeck-command' }])
    expect(linesOf('runner').filter((one) => one['requestId'] === requestId)).toMatchObject([
      { msg: 'run started', service: 'flightdeck-runner' },
      { msg: 'run ended', ok: true },
    ])
  })

  test('are one trace, without any of them passing a trace on', async () => {
    const traceId = requestId.replaceAll('-', '')
    const wanted = ['run execution', 'say ExecutionCompleted', 'project ExecutionCompleted', 'append']
    const of = (spans: readonly CollectedSpan[]) => spans.filter((span) => span.traceId === traceId)
    const trace = of(
      await collector.until('the whole trace', (spans) => {
        const names = new Set(of(spans).map(({ name }) => name))
        return wanted.every((name) => names.has(name)) && of(spans).filter(isRequest).length === 2
      }),
    )
    const ids = new Set(trace.map(({ spanId }) => spanId))
    const roots = trace.filter(({ parentSpanId }) => parentSpanId === undefined || !ids.has(parentSpanId))
    expect(roots).toMatchObject([{ name: 'POST /api/tasks', service: 'flightdeck-gateway' }])
    const inner = trace.filter(isRequest).find(({ service }) => service === 'flightdeck-command')
    expect(inner?.parentSpanId).toBe(roots[0]?.spanId)
    const command = trace.find(({ name }) => name === 'command CreateTask')
    expect(command).toMatchObject({ parentSpanId: inner?.spanId, service: 'flightdeck-command' })
    expect(new Set(trace.map(({ service }) => service))).toEqual(
      new Set(['gateway', 'command', 'query', 'runner'].map((name) => `flightdeck-${name}`)),
    )
    expect(collector.faults).toEqual([])
  })
  const isRequest = ({ name }: CollectedSpan) => name === 'POST /api/tasks'

  test('each tell their own metrics', async () => {
    await eventually('all is done and projected', async () => {
      const [command, query] = await Promise.all([metricsOf('command'), metricsOf('query')])
      const lag = query.value('flightdeck_projection_lag_events')
      return command.value('flightdeck_jobs_pending', { kind: 'execution' }) === 0 && lag === 0
    })
    const posted = { method: 'POST', route: '/api/tasks', status: '2xx' }
    const [gateway, command, query, runner] = await Promise.all(
      (['gateway', 'command', 'query', 'runner'] as const).map(metricsOf),
    )
    for (const read of [gateway, command])
      expect(read?.value('flightdeck_http_request_seconds_count', posted)).toBe(1)
    expect(command?.value('flightdeck_projection_lag_events')).toBeUndefined()
    expect(query?.value('flightdeck_jobs_pending', { kind: 'execution' })).toBeUndefined()
    expect(runner?.value('flightdeck_run_seconds_count', { kind: 'execution' })).toBe(1)
    expect(runner?.sum('flightdeck_model_tokens_total')).toBeGreaterThan(0)
    expect(gateway?.sum('flightdeck_model_tokens_total')).toBe(0)
    const all = await Promise.all(servicesApart.map(metricsOf))
    for (const read of all) expect(read.value('process_start_time_seconds')).toBeGreaterThan(0)
  })
})
