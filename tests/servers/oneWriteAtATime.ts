/**
 * A passage for a gate in front of FerretDB that passes one writing command at a time, whatever the number of connections. MongoDB finds and changes
 * a document in one step; FerretDB 1.x takes two, between which another writer may change it. With this passage FerretDB keeps MongoDB's promise.
 */
import { eachMessage, hasAnswer, headBytes, opMsg } from './mongoMessages.ts'
import type { Passage } from './tcpGate.ts'

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

/** Whether a command may write, which is true for all commands except known reads. The first field of its document names a command. */
function mayWrite(message: Buffer): boolean {
  if (message.readInt32LE(12) !== opMsg) return false
  // The flags, the kind of the section, the document's length and the field's type come before the name.
  const from = headBytes + 4 + 1 + 4 + 1
  return !readOnly.has(message.toString('utf8', from, message.indexOf(0, from)))
}
