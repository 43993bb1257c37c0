/** The frames of MongoDB's protocol, https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/: length, request id, response to, opcode. */
import type { Socket } from 'node:net'

export const headBytes = 16
export const opMsg = 2013
const moreToCome = 2

export function eachMessage(socket: Socket, take: (message: Buffer) => void): void {
  let chunks: Buffer[] = []
  let size = 0
  let wanted = headBytes
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size < wanted) return
    let bytes = Buffer.concat(chunks)
    const length = () => (bytes.length < headBytes ? headBytes : bytes.readInt32LE(0))
    for (wanted = length(); bytes.length >= wanted; wanted = length()) {
      take(bytes.subarray(0, wanted))
      bytes = bytes.subarray(wanted)
    }
    chunks = [bytes]
    size = bytes.length
  })
}

/** Whether the server answers a message: it does not when the message says that more is to come. */
export function hasAnswer(message: Buffer): boolean {
  return message.readInt32LE(12) !== opMsg || (message.readUInt32LE(headBytes) & moreToCome) === 0
}
