/**
 * A gate in front of NATS that loses messages: every second message that clients publish on subjects of the bus is dropped. It reads just enough of
 * the protocol for that; jobs, requests and answers pass unchanged.
 */
import type { Socket } from 'node:net'
import { openGate } from '../servers/tcpGate.ts'

export interface LosingGate {
  readonly url: string
  /** The number of messages on the bus that passed and that were dropped. */
  readonly passed: number
  readonly lost: number
  /** The number of subjects with messages: for each, at most one more passed than was dropped. */
  readonly subjects: number
  close(): Promise<void>
}

/** Opens a gate in front of the server on `port` of loopback. Subjects that begin with `prefix` belong to the bus. */
export async function openLosingGate(port: number, prefix = 'flightdeck.bus.'): Promise<LosingGate> {
  let passed = 0
  let lost = 0
  /** Counted per subject, so that no kind of message is lost completely. */
  const countOf = new Map<string, number>()
  const isLost = (subject: string): boolean => {
    if (!subject.startsWith(prefix)) return false
    const count = (countOf.get(subject) ?? 0) + 1
    countOf.set(subject, count)
    if (count % 2 === 0) lost += 1
    else passed += 1
    return count % 2 === 0
  }
  const gate = await openGate({ host: '127.0.0.1', port }, (client, server) => {
    server.on('data', (bytes: Buffer) => void client.write(bytes))
    client.on('data', whole(server, isLost))
  })
  return {
    url: `nats://127.0.0.1:${gate.port}`,
    get passed() {
      return passed
    },
    get lost() {
      return lost
    },
    get subjects() {
      return countOf.size
    },
    close: () => gate.shut(),
  }
}

const lineEnd = Buffer.from('\r\n')

/** Passes whole operations on: a line, or for a publication (`PUB subject [reply] size`, `HPUB`) a line and that many bytes. */
function whole(server: Socket, isLost: (subject: string) => boolean): (bytes: Buffer) => void {
  let waiting: Buffer = Buffer.alloc(0)
  return (bytes) => {
    waiting = Buffer.concat([waiting, bytes])
    for (;;) {
      const end = waiting.indexOf(lineEnd)
      if (end === -1) return
      const words = waiting.subarray(0, end).toString('utf8').trim().split(/\s+/)
      const [operation = '', subject = ''] = words
      const isPublication = /^H?PUB$/i.test(operation)
      const payload = isPublication ? Number(words.at(-1)) + lineEnd.length : 0
      const length = end + lineEnd.length + payload
      if (waiting.length < length) return
      if (!isPublication || !isLost(subject)) server.write(waiting.subarray(0, length))
      waiting = waiting.subarray(length)
    }
  }
}
