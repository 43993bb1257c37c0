/** A stand-in for a MongoDB that is too old for the driver: its greeting says so, and it answers nothing else. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { BSON } from 'mongodb'

/** The wire version of MongoDB 3.6. */
const wireVersion = 6
const opReply = 1

export async function serveOldMongo(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (message: Buffer) => socket.write(greeting(message.readInt32LE(4))))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port.')
  return {
    url: `mongodb://127.0.0.1:${address.port}/`,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** An OP_REPLY, https://www.mongodb.com/docs/manual/legacy-opcodes/#op_reply: header, flags, cursor, starting position, one document. */
function greeting(to: number): Buffer {
  const document = BSON.serialize({ ismaster: true, minWireVersion: 0, maxWireVersion: wireVersion, ok: 1 })
  const head = Buffer.alloc(36)
  head.writeInt32LE(head.length + document.length, 0)
  head.writeInt32LE(to, 8)
  head.writeInt32LE(opReply, 12)
  head.writeInt32LE(1, 32)
  return Buffer.concat([head, document])
}
