/**
 * Limits the memory of request bodies, per sender and in total, and refuses bodies that arrive too slowly. When a body begins, memory for its
 * announced size is reserved.
 */
import type { Context, Middleware } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'
import { networkOf } from './clientNetwork.ts'
import type { Identity } from './session.ts'
import { parse } from '@hapi/bourne'

export interface Bodies {
  /**
   * Watches a body that other code reads, from now until the returned function is called. Throws `unsupported_type` for a compressed body. Calls
   * `refuse` at most once: with `rate_limited` when the sender's bodies take too much memory, with `engine_unavailable` when all bodies together do,
   * and with `too_slow` when the body arrives too slowly. The connection is then closed after the response.
   */
  watch(context: Context, refuse: (fault: Fault) => void): () => void
  /** Reads the whole body. Throws the faults of `watch`, `too_large` for more than `mostBytes`, and `invalid_input` when the body is cut off. */
  read(context: Context, mostBytes: number): Promise<Buffer>
}

/** How many bytes of bodies may be in memory, in total and per sender. */
interface Room {
  readonly ofAll: number
  readonly ofOne: number
}
type Rooms = Readonly<Record<'small' | 'large', Room>>

const mebibyte = 1_048_576
/** Bodies up to this announced size have a budget of their own, so that large bodies cannot use up the room for small ones. */
const smallBytes = 256 * 1_024
/**
 * The budgets by kind of sender. A sender is an address (for IPv6, a network) or, once signed in, a person. The budgets are large enough for the
 * largest webhook delivery from an address, and for five images from a person.
 */
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
/** The estimated memory that each chunk takes in addition to its bytes. It matters because a client may send single bytes. */
const bytesBesidePiece = 256
const usualPieceBytes = 16_384
const leastBytesPerSecond = 8 * 1_024
const speedWindowMs = 5_000
/** How long the received part of a stranger's large body still counts after its reading ended early, because garbage collection takes a while. */
const collectedMs = 15_000
const retryAfterSeconds = 5

export function createBodies(): Bodies {
  const strangers = createRooms(roomsOf.strangers)
  const people = createRooms(roomsOf.people)

  function watch(context: Context, refuse: (fault: Fault) => void): () => void {
    const coding = context.get('content-encoding').trim().toLowerCase()
    if (coding !== '' && coding !== 'identity')
      throw new Fault('unsupported_type', 'Send the body as it is, without a Content-Encoding.')
    const { req } = context
    const identity: Identity | null | undefined = context.state.identity
    const announced = Number(req.headers['content-length'] ?? NaN)
    const rooms = identity ? people : strangers
    const isSmall = announced <= smallBytes
    const held = rooms[isSmall ? 'small' : 'large'](identity?.userId ?? networkOf(context.ip))
    let isOver = false
    let sinceLast = 0
    let received = 0
    const takeRoom = (bytes: number) => {
      const fault = isOver ? undefined : held.growTo(bytes)
      if (fault) fail(fault)
    }
    const count = (piece: Buffer) => {
      sinceLast += piece.length
      received += piece.length + bytesBesidePiece
      takeRoom(received)
    }
    // `setImmediate` runs after received data was read, so that a busy server does not mistake its own delay for the sender's.
    const timer = setInterval(() => setImmediate(checkSpeed), speedWindowMs)
    function checkSpeed(): void {
      if (isOver || req.complete) return
      if (sinceLast < (leastBytesPerSecond * speedWindowMs) / 1_000) fail(new Fault('too_slow'))
      sinceLast = 0
    }
    function fail(fault: Fault): void {
      stop()
      // Without this pause, up to 2 MB of each connection would be read in a turn of the event loop and discarded.
      req.pause()
      context.set('connection', 'close')
      refuse(fault)
    }
    function stop(): void {
      if (isOver) return
      isOver = true
      clearInterval(timer)
      req.off('data', count)
      if (isSmall || identity || req.complete) held.release()
      else held.releaseLater(received)
    }
    req.on('data', count)
    // Reserves the announced size before the body is received, so that hardly anything is read of a body for which there is no room.
    process.nextTick(() => takeRoom(announced * (1 + bytesBesidePiece / usualPieceBytes)))
    return stop
  }

  return { watch, read: (context, mostBytes) => readWhole(context, mostBytes, watch) }
}

function readWhole(context: Context, mostBytes: number, watch: Bodies['watch']): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { req } = context
    if ((context.request.length ?? 0) > mostBytes) throw new Fault('too_large')
    const pieces: Buffer[] = []
    let bytes = 0
    const stopWatching = watch(context, refuse)
    function end(): void {
      stop()
      resolve(Buffer.concat(pieces))
    }
    function breakOff(): void {
      refuse(new Fault('invalid_input', 'The body is incomplete.'))
    }
    function collect(piece: Buffer): void {
      pieces.push(piece)
      bytes += piece.length
      if (bytes > mostBytes) refuse(new Fault('too_large'))
    }
    function stop(): void {
      stopWatching()
      req.off('data', collect).off('end', end).off('error', breakOff).off('close', breakOff)
    }
    function refuse(fault: Fault): void {
      stop()
      pieces.length = 0
      reject(fault)
    }
    req.on('data', collect).on('end', end).on('error', breakOff).on('close', breakOff)
    if (req.destroyed) breakOff()
  })
}

interface ReservedBytes {
  /** Raises the reservation to `bytes` bytes, if it is smaller. If there is no room, releases all of the reservation and returns the fault. */
  growTo(bytes: number): Fault | undefined
  release(): void
  /** Releases the reservation except for `bytes` bytes, which stay reserved until they have probably been garbage-collected. */
  releaseLater(bytes: number): void
}

function createRooms(rooms: Rooms) {
  return { small: createRoom(rooms.small), large: createRoom(rooms.large) }
}

/** Counts the reserved bytes of each sender. */
function createRoom({ ofAll, ofOne }: Room): (sender: string) => ReservedBytes {
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
      growTo(bytes) {
        if (!(bytes > own)) return undefined
        const isTooMuch = change(bytes - own) > ofOne
        if (!isTooMuch && all <= ofAll) return undefined
        change(-own)
        return isTooMuch
          ? new Fault('rate_limited', 'Too much is being sent from there at once.', undefined, {
              retryAfterSeconds,
            })
          : new Fault('engine_unavailable', 'Too much is being sent to the server at once.', undefined, {
              retryAfterSeconds,
            })
      },
      release: () => void change(-own),
      releaseLater(bytes) {
        change(Math.min(0, bytes - own))
        setTimeout(() => change(-own), collectedMs).unref()
      },
    }
  }
}

declare module 'koa' {
  interface Request {
    body?: unknown
    rawBody?: string
  }
}

const maxJsonBytes = 1_048_576
const methods: ReadonlySet<string> = new Set(['POST', 'PUT', 'DELETE'])

/**
 * Reads the JSON body of a POST, PUT or DELETE, of at most 1 MiB, into `context.request.body`; an empty body becomes `{}`. Throws the faults of
 * `Bodies.read`, and `invalid_input` when the body is not JSON.
 */
export function readJson(bodies: Bodies): Middleware {
  return async (context, next) => {
    if (methods.has(context.method) && context.is('json', '+json')) {
      const text = decoded(await bodies.read(context, maxJsonBytes))
      context.request.rawBody = text
      context.request.body = text === '' ? {} : parseJson(text)
    }
    await next()
  }
}

// Drops a byte order mark: some clients send it, and parsers may ignore it (RFC 8259, 8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes the bytes. Invalid UTF-8 is refused, because replacement characters would change the text. */
function decoded(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Fault('invalid_input', 'The body is not valid UTF-8. Send JSON encoded as UTF-8.')
  }
}

/** Parses an object or a list. Throws `invalid_input` for anything else, and for names that would change an object's prototype. */
export function parseJson(text: string): object {
  try {
    const value: unknown = parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // The fault is thrown below, where values other than objects and lists are refused too.
  }
  throw new Fault('invalid_input', 'The body is not valid JSON.')
}
