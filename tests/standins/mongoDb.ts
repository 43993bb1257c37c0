/**
 * A stand-in for MongoDB at the wire: it answers the real driver on 127.0.0.1 with what our adapters use of the server, as MongoDB's manual describes
 * it, without users, transactions and replicas. All else is refused. Its data is in memory and outlives `kill` and `restart`.
 */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { BSON } from 'mongodb'
import { eachMessage, hasAnswer, headBytes, opMsg } from '../servers/mongoMessages.ts'
import { done, type Stored } from './mongoDb/commands.ts'
import { Refused, type Fields } from './mongoDb/values.ts'

export interface MongoDbStandIn {
  readonly port: number
  /** Stops the server at once, with every connection and cursor, as `kill -9` would; stored data stays. */
  kill(): void
  /** Starts the server again, on the same port. */
  restart(): Promise<void>
}

/** Starts the stand-in on a free port. */
export async function startMongoDb(): Promise<MongoDbStandIn> {
  const stored: Stored = { collections: new Map(), cursors: new Map() }
  const sockets = new Set<Socket>()
  let server: Server | undefined
  let port = 0

  function serve(socket: Socket): void {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    eachMessage(socket, (message) => {
      const answer = answerTo(message, stored)
      if (answer) socket.write(answer)
    })
  }

  async function start(): Promise<void> {
    server = createServer(serve).listen(port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('A TCP server has a port.')
    port = address.port
  }

  await start()
  return {
    port,
    kill() {
      server?.close()
      for (const socket of sockets) socket.destroy()
      stored.cursors.clear()
    },
    restart: start,
  }
}

const opReply = 1
const opQuery = 2004

function answerTo(message: Buffer, stored: Stored): Buffer | undefined {
  const code = message.readInt32LE(12)
  const to = message.readInt32LE(4)
  if (code === opMsg) {
    const answer = answerOf(commandIn(message), stored)
    // No flags, and one section of kind 0.
    return hasAnswer(message) ? framed(to, opMsg, Buffer.alloc(5), answer) : undefined
  }
  if (code !== opQuery) throw new Error(`The stand-in does not know the opcode ${code}.`)
  // The driver's first greeting: after the flags and the name of a collection come two numbers and the command.
  const from = message.indexOf(0, headBytes + 4) + 1 + 8
  const head = Buffer.alloc(20)
  head.writeInt32LE(1, 16)
  return framed(to, opReply, head, answerOf(documentAt(message, from).document, stored))
}

function answerOf(command: Fields, stored: Stored): Fields {
  try {
    return { ...done(command, stored), ok: 1 }
  } catch (fault) {
    const answer = fault instanceof Refused ? fault.answer : { code: 1, codeName: 'InternalError' }
    return { errmsg: String(fault), ...answer, ok: 0 }
  }
}

/** The document of a message, with the documents of its sequences as lists. */
function commandIn(message: Buffer): Fields {
  let command: Fields = {}
  for (let at = headBytes + 4; at < message.length;) {
    if (message.readUInt8(at) === 0) {
      const { document, end } = documentAt(message, at + 1)
      command = { ...document, ...command }
      at = end
      continue
    }
    const end = at + 1 + message.readInt32LE(at + 1)
    const nameEnd = message.indexOf(0, at + 5)
    const documents: Fields[] = []
    for (let from = nameEnd + 1; from < end;) {
      const found = documentAt(message, from)
      documents.push(found.document)
      from = found.end
    }
    command[message.toString('utf8', at + 5, nameEnd)] = documents
    at = end
  }
  return command
}

function documentAt(message: Buffer, from: number): { document: Fields; end: number } {
  const end = from + message.readInt32LE(from)
  return { document: BSON.deserialize(message.subarray(from, end)), end }
}

function framed(to: number, code: number, head: Buffer, answer: Fields): Buffer {
  const document = BSON.serialize(answer)
  const frame = Buffer.alloc(headBytes)
  frame.writeInt32LE(headBytes + head.length + document.length, 0)
  frame.writeInt32LE(to, 8)
  frame.writeInt32LE(code, 12)
  return Buffer.concat([frame, head, document])
}
