/**
 * A passage for a gate before FerretDB that gives it one command at a time, whatever the number of connections. MongoDB finds a document
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
      turn = pass(message, turn)
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
