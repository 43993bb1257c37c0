/** A TCP gate in front of a server, which simulates faults on the way to the server. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export interface Gate {
  readonly port: number
  /** Lets everything through; data that was held is passed on. */
  open(): Promise<void>
  /** Refuses new connections and breaks existing ones, as when the server is down. */
  shut(): Promise<void>
  /** Leaves everybody without an answer, as when the server hangs. */
  hold(): void
}

/** Passes bytes between the two sockets of a connection. */
export type Passage = (client: Socket, server: Socket) => void

/** Opens a gate on a free port of loopback. With a `passage` of its own it cannot hold data. */
export async function openGate(to: { host: string; port: number }, passage?: Passage): Promise<Gate> {
  const sockets = new Set<Socket>()
  const held: (() => void)[] = []
  let holds = false
  let listener: Server | undefined
  let port = 0

  const straight: Passage = (client, server) => {
    for (const [from, into] of pairs(client, server)) {
      from.on('data', (bytes: Buffer) => {
        if (holds) held.push(() => void into.write(bytes))
        else into.write(bytes)
      })
    }
  }

  function enter(client: Socket): void {
    const server = connect(to.port, to.host)
    for (const [one, other] of pairs(client, server)) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    ;(passage ?? straight)(client, server)
  }

  async function open(): Promise<void> {
    holds = false
    for (const pass of held.splice(0)) pass()
    if (listener) return
    listener = createServer(enter).listen(port, '127.0.0.1')
    await once(listener, 'listening')
    const address = listener.address()
    if (address !== null && typeof address !== 'string') port = address.port
  }

  await open()
  return {
    port,
    open,
    async shut() {
      const closing = listener
      listener = undefined
      held.length = 0
      closing?.close()
      for (const socket of sockets) socket.destroy()
      if (closing) await once(closing, 'close')
    },
    hold() {
      holds = true
    },
  }
}

function pairs(client: Socket, server: Socket): readonly (readonly [Socket, Socket])[] {
  return [
    [client, server],
    [server, client],
  ]
}
