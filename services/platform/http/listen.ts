/** Starts and stops the HTTP servers of the product. */
import { chmod, chown } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { HostUser } from '#platform/childProcess.ts'

/** Resolves to the port when the server listens; port 0 chooses a free one. Rejects when the port is in use. */
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
 * Where a server listens for this machine only: a unix socket whose path has at most 107 bytes, with mode 0600 and belonging to `owner`; or
 * `'loopback'`, a free port of 127.0.0.1.
 */
export type LocalAddress = { readonly socketPath: string; readonly owner?: HostUser | undefined } | 'loopback'

/** Listens for connections from this machine only. Resolves to the port, 0 for a socket; rejects when it cannot listen. */
export async function listenLocally(server: Server, address: LocalAddress): Promise<number> {
  if (address === 'loopback') return listen(server, { host: '127.0.0.1', port: 0 })
  const { socketPath, owner } = address
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socketPath, () => {
      server.off('error', reject)
      resolve()
    })
  })
  await chmod(socketPath, 0o600)
  if (owner) await chown(socketPath, owner.uid, owner.gid)
  return 0
}

/**
 * Stops accepting connections, and resolves when all requests are answered. After `drainMs`, calls `giveUp` and cuts the remaining connections. Every
 * `sweepMs`, closes connections that have become idle, because a connection is kept alive after its answer.
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
