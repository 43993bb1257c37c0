/** Bytes on a server's connections: of HTTP and of sockets alike, also while they are open. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

interface Counter {
  inc(by: number): void
}

/** Counts what connections of servers receive and send, whenever `collect` is called and when one closes. */
export function countedBytes(received: Counter, sent: Counter) {
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
