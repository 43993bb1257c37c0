/** The server of the metrics, and which requests it refuses. */
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { readMetrics } from '../../../tests/standins/prometheus.ts'
import { openMetrics } from '#platform/telemetry/metrics.ts'
import { startMetricsServer } from './metricsServer.ts'

test('it serves /metrics, and nothing else', async () => {
  const door = await startMetricsServer({ host: '127.0.0.1', port: 0 }, openMetrics())
  const at = (path: string) => `http://127.0.0.1:${door.port}${path}`
  try {
    const answer = await fetch(at('/metrics'))
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(readMetrics(await answer.text()).value('process_start_time_seconds')).toBeGreaterThan(0)
    for (const path of ['/', '/metrics/', '/api/tasks', '/healthz'])
      expect((await fetch(at(path))).status).toBe(404)
    expect((await fetch(at('/metrics'), { method: 'POST' })).status).toBe(404)
  } finally {
    await door.stop()
  }
})

test('bytes on connections are counted while they are open, and not again when they close', async () => {
  const metrics = openMetrics()
  const http = createServer((_, response) => response.end('x'.repeat(1_000)))
  metrics.emit({ kind: 'server', http })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const address = http.address()
  const connection = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1')
  const asked = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  connection.write(asked)
  let received = 0
  await new Promise<void>((resolve) => {
    connection.on('data', (chunk) => (received += chunk.length) > 1_000 && resolve())
  })
  const bytes = async () => {
    const read = readMetrics(await metrics.text())
    return [
      read.value('flightdeck_http_received_bytes_total'),
      read.value('flightdeck_http_sent_bytes_total'),
    ]
  }
  expect(await bytes()).toEqual([asked.length, received])
  const closed = new Promise((resolve) => http.once('close', resolve))
  connection.destroy()
  http.close()
  await closed
  expect(await bytes()).toEqual([asked.length, received])
})
