/** Where Prometheus asks: `/metrics` on a port of its own, and nothing else. */
import { createServer } from 'node:http'
import type { Metrics } from '#platform/telemetry/metrics.ts'

/** Resolves once it listens. Throws when the port is taken. */
export async function startMetricsServer(
  { host, port }: { host: string; port: number },
  metrics: Metrics,
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const http = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    const [path] = (request.url ?? '').split('?', 1)
    if (path !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404).end()
      return
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, host, () => {
      http.off('error', reject)
      resolve()
    })
  })
  const address = http.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    stop: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}
