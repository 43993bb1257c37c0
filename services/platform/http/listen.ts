/** Starting and stopping the HTTP servers of the product. */
import type { Server } from 'node:http'

/** Resolves to the port once the server listens; port 0 takes any free one. Rejects when the port is taken. */
export function listen(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/**
 * Closes the server once its requests are answered, or after `drainMs` with whatever is still open. `sweepMs`: how often idle
 * connections are closed, as a connection that was busy at first is kept alive after its answer.
 */
export async function drain(
  server: Server,
  { drainMs, sweepMs, giveUp }: { drainMs: number; sweepMs: number; giveUp?: () => void },
): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const sweep = setInterval(() => server.closeIdleConnections(), sweepMs)
  const late = setTimeout(() => {
    giveUp?.()
    server.closeAllConnections()
  }, drainMs)
  server.closeIdleConnections()
  await closed
  clearInterval(sweep)
  clearTimeout(late)
}
