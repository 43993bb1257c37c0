/** Connections on which nobody has signed in: each of them takes room, so there are only so many, of one address and in all. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface Strangers {
  /** Somebody has signed in on this connection: it is counted no more. */
  known(connection: Socket): void
}

/** One address may have a quarter of them. */
const addressesMost = 4

/** Closes what is too much at once. Behind proxies the addresses are theirs, and only the sum counts. */
export function limitStrangers(
  http: Server,
  { ofAddress, isProxied }: { readonly ofAddress: number; readonly isProxied: boolean },
): Strangers {
  const counts = new Map<string, number>()
  const waiting = new Map<Socket, string>()
  function known(connection: Socket): void {
    const address = waiting.get(connection)
    if (address === undefined) return
    waiting.delete(connection)
    const left = (counts.get(address) ?? 1) - 1
    if (left > 0) counts.set(address, left)
    else counts.delete(address)
  }
  http.on('connection', (connection: Socket) => {
    const address = connection.remoteAddress ?? ''
    const count = counts.get(address) ?? 0
    const tooMany = waiting.size >= ofAddress * addressesMost || (!isProxied && count >= ofAddress)
    if (tooMany) return void connection.destroy()
    counts.set(address, count + 1)
    waiting.set(connection, address)
    connection.once('close', () => known(connection))
  })
  return { known }
}
