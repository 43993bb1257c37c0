/** Request bodies while they are received: how much memory those of one sender and of all may take, and how slow they may be. */
import { finished } from 'node:stream'
import type { Context } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'
import { networkOf } from './network.ts'
import type { Identity } from './session.ts'

export interface Bodies {
  /**
   * Watches a body that somebody else reads, from now until the returned function is called. Throws `unsupported_type` for one that is packed.
   * Calls `refuse` once: with `rate_limited` when its sender has too much under way, `engine_unavailable` when all have, and `too_slow` when
   * too little of it comes. The connection is then closed after the answer.
   */
  watch(context: Context, refuse: (fault: Fault) => void): () => void
  /** Reads the whole body. Throws what `watch` refuses with, `too_large` above `mostBytes`, and `invalid_input` for one that breaks off. */
  read(context: Context, mostBytes: number): Promise<Buffer>
}

/** How many bytes may be in memory, of all senders and of one. */
interface Room {
  readonly ofAll: number
  readonly ofOne: number
}
type Rooms = Readonly<Record<'small' | 'large', Room>>

const mebibyte = 1_048_576
/** Bodies that announce no more are counted by themselves: large ones leave room for them. */
const smallBytes = 256 * 1_024
/** A sender is an address (of IPv6 a network), or a person once they have signed in. One address may send the largest delivery; one person, five images. */
const roomsOf: Readonly<Record<'strangers' | 'people', Rooms>> = {
  strangers: {
    small: { ofAll: 8 * mebibyte, ofOne: 3 * mebibyte },
    large: { ofAll: 36 * mebibyte, ofOne: 28 * mebibyte },
  },
  people: {
    small: { ofAll: 32 * mebibyte, ofOne: 8 * mebibyte },
    large: { ofAll: 256 * mebibyte, ofOne: 64 * mebibyte },
  },
}
/** What a piece takes in memory beside its bytes: somebody may send one byte at a time. */
const bytesBesidePiece = 256
const leastBytesPerSecond = 8 * 1_024
const speedWindowMs = 5_000
const retryAfterSeconds = 5

/** Accounts for all bodies that one server receives. */
export function createBodies(): Bodies {
  const strangers = createRooms(roomsOf.strangers)
  const people = createRooms(roomsOf.people)

  function watch(context: Context, refuse: (fault: Fault) => void): () => void {
    const coding = context.get('content-encoding').trim().toLowerCase()
    if (coding !== '' && coding !== 'identity')
      throw new Fault('unsupported_type', 'Send the body as it is, without a Content-Encoding.')
    const { req } = context
    const identity: Identity | null | undefined = context.state.identity
    const rooms = identity ? people : strangers
    const isSmall = Number(req.headers['content-length'] ?? Infinity) <= smallBytes
    const held = rooms[isSmall ? 'small' : 'large'](identity?.userId ?? networkOf(context.ip))
    let isOver = false
    let sinceLast = 0
    const count = (piece: Buffer) => {
      sinceLast += piece.length
      const fault = held.add(piece.length + bytesBesidePiece)
      if (fault) fail(fault)
    }
    // After what has arrived meanwhile was read: a busy server must not take its own delay for the sender's.
    const timer = setInterval(() => setImmediate(checkSpeed), speedWindowMs)
    function checkSpeed(): void {
      if (isOver || req.complete) return
      if (sinceLast < (leastBytesPerSecond * speedWindowMs) / 1_000) fail(new Fault('too_slow'))
      sinceLast = 0
    }
    function fail(fault: Fault): void {
      stop()
      // Up to 2 MB of each connection would be read in a turn of the event loop, and thrown away.
      req.pause()
      context.set('connection', 'close')
      refuse(fault)
    }
    function stop(): void {
      if (isOver) return
      isOver = true
      clearInterval(timer)
      req.off('data', count)
      held.release()
    }
    req.on('data', count)
    return stop
  }

  return {
    watch,
    read: (context, mostBytes) =>
      new Promise((resolve, reject) => {
        const { req } = context
        if ((context.request.length ?? 0) > mostBytes) throw new Fault('too_large')
        const pieces: Buffer[] = []
        let bytes = 0
        const stopWatching = watch(context, refuse)
        const stopWaiting = finished(req, { writable: false }, (fault) => {
          if (fault) return refuse(new Fault('invalid_input', 'The body is incomplete.'))
          stop()
          resolve(Buffer.concat(pieces))
        })
        function collect(piece: Buffer): void {
          pieces.push(piece)
          bytes += piece.length
          if (bytes > mostBytes) refuse(new Fault('too_large'))
        }
        function stop(): void {
          stopWatching()
          stopWaiting()
          req.off('data', collect)
        }
        function refuse(fault: Fault): void {
          stop()
          pieces.length = 0
          reject(fault)
        }
        req.on('data', collect)
      }),
  }
}

interface Held {
  /** The fault when there is no room for so many bytes more. They are counted all the same. */
  add(bytes: number): Fault | undefined
  release(): void
}

function createRooms(rooms: Rooms) {
  return { small: createRoom(rooms.small), large: createRoom(rooms.large) }
}

/** Counts bytes by their sender. */
function createRoom({ ofAll, ofOne }: Room): (sender: string) => Held {
  const bySender = new Map<string, number>()
  let all = 0
  return (sender) => {
    let own = 0
    const change = (bytes: number): number => {
      own += bytes
      all += bytes
      const now = (bySender.get(sender) ?? 0) + bytes
      if (now === 0) bySender.delete(sender)
      else bySender.set(sender, now)
      return now
    }
    return {
      add(bytes) {
        const ofSender = change(bytes)
        if (ofSender > ofOne)
          return new Fault('rate_limited', 'Too much is being sent from there at once.', undefined, {
            retryAfterSeconds,
          })
        if (all > ofAll)
          return new Fault('engine_unavailable', 'Too much is being sent to the server at once.', undefined, {
            retryAfterSeconds,
          })
        return undefined
      },
      release: () => void change(-own),
    }
  }
}
