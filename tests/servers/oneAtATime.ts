/**
 * A passage for a gate before FerretDB that gives it one writing command at a time, whatever the number of connections. MongoDB finds a document
 * and changes it in one step; FerretDB 1.x in two, between which another writer may come. With this it keeps what MongoDB promises.
 */
import type { Socket } from 'node:net'
import type { Passage } from './gate.ts'

export function oneAtATime(): Passage {
  let turn = Promise.resolve()
  return (client, server) => {
    let answered = () => {}
    async function pass(message: Buffer, before: Promise<void>): Promise<void> {
      await before
      if (server.destroyed) return
      const answer = new Promise<void>((resolve) => {
        answered = resolve
      })
      server.write(message)
      if (hasAnswer(message)) await answer
    }
    eachMessage(client, (message) => {
      if (mayWrite(message)) turn = pass(message, turn)
      else server.write(message)
    })
    eachMessage(server, (message) => {
      client.write(message)
      answered()
    })
    server.on('close', () => answered())
  }
}

// https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/: length, request id, response to, opcode; flags in OP_MSG.
const headBytes = 16
const opMsg = 2013
const moreToCome = 2

const readOnly = new Set([
  'hello',
  'ismaster',
  'isMaster',
  'ping',
  'saslStart',
  'saslContinue',
  'buildInfo',
  'endSessions',
  'find',
  'getMore',
  'count',
  'aggregate',
  'listCollections',
  'listIndexes',
])

/** All but what is known to write nothing: a command is named by the first field of its document. */
function mayWrite(message: Buffer): boolean {
  if (message.readInt32LE(12) !== opMsg) return false
  // Flags, the kind of the section, the document's length and the field's type come before the name.
  const from = headBytes + 4 + 1 + 4 + 1
  return !readOnly.has(message.toString('utf8', from, message.indexOf(0, from)))
}

/** Whether the server answers: it does not when the message says that more is to come. */
function hasAnswer(message: Buffer): boolean {
  return message.readInt32LE(12) !== opMsg || (message.readUInt32LE(headBytes) & moreToCome) === 0
}

function eachMessage(socket: Socket, take: (message: Buffer) => void): void {
  let bytes = Buffer.alloc(0)
  socket.on('data', (more: Buffer) => {
    bytes = Buffer.concat([bytes, more])
    while (bytes.length >= headBytes && bytes.length >= bytes.readInt32LE(0)) {
      const length = bytes.readInt32LE(0)
      take(bytes.subarray(0, length))
      bytes = bytes.subarray(length)
    }
  })
}
