/** Serves `/metrics` to Prometheus on a separate port. */
import { createServer } from 'node:http'
import { listen } from '#platform/http/listen.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'

/** Starts the server and resolves when it listens. Throws when the port is in use. */
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
  const listening = await listen(http, { host, port })
  return {
    port: listening,
    stop: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}
