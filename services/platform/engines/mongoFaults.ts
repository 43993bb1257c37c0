/**
 * Classifies faults of MongoDB's driver. The driver's fields, and its messages about refused operations, may contain documents, so only the other
 * parts are passed on.
 */
import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoCompatibilityError,
  MongoError,
  MongoExpiredSessionError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb'
import type { Collection, Document, OptionalUnlessRequiredId } from 'mongodb'
import { EngineUnavailable, UnusableEngine } from '../ports/faults.ts'

/** Thrown when there was no answer within our own time limit. */
export class Late extends Error {
  override readonly name = 'Late'
  constructor(ms: number) {
    super(`no answer within ${ms} ms`)
  }
}

/** Whether the fault means that a unique index refused a document. */
export function isDuplicate(fault: unknown): boolean {
  return fault instanceof MongoServerError && fault.code === duplicateKey
}

/** Inserts a document; `false` when a unique index refused it. */
export async function inserted<T extends Document>(
  collection: Collection<T>,
  document: OptionalUnlessRequiredId<T>,
): Promise<boolean> {
  try {
    await collection.insertOne(document)
    return true
  } catch (fault) {
    if (isDuplicate(fault)) return false
    throw fault
  }
}

/**
 * Runs an upsert, and repeats it once if it fails because another process inserted the document at the same time. The second attempt finds that
 * document.
 */
export async function onceMoreIfDuplicate(upsert: () => Promise<unknown>): Promise<void> {
  try {
    await upsert()
  } catch (fault) {
    if (!isDuplicate(fault)) throw fault
    await upsert()
  }
}

/**
 * The fault that a port may throw in place of a fault of the driver. A fault that comes from neither the engine nor the network is returned
 * unchanged.
 */
export function named(engine: string, fault: unknown): unknown {
  const root = rootOf(fault)
  if (root instanceof Late || isOfDns(root) || isOfSocket(root) || isAway(root))
    return new EngineUnavailable(engine, plain(root))
  if (root instanceof MongoServerError) {
    return new Error(`${engine} refuses an operation: ${String(root.codeName ?? 'no name')} (${root.code})`)
  }
  return fault
}

/** What to throw for wrong credentials, missing rights or an old server; otherwise `undefined`. */
export function refusal(engine: string, fault: unknown): UnusableEngine | undefined {
  if (fault instanceof MongoServerError && fault.code === unauthenticated) {
    return new UnusableEngine(
      `${engine} does not let us in: the user name, the password or the authSource in MONGODB_URL is wrong.`,
    )
  }
  if (fault instanceof MongoServerError && fault.code === unauthorized) {
    return new UnusableEngine(
      `${engine} does not let us read and write our database: MONGODB_URL names no user, or one without the rights.`,
    )
  }
  const cause = fault instanceof MongoServerSelectionError ? fault.cause : fault
  if (cause instanceof MongoCompatibilityError) {
    return new UnusableEngine(`${engine} is too old: MongoDB 4.4 or later is needed.`)
  }
  return undefined
}

/** The original fault, which the driver wraps if it occurs within a bulk write. */
function rootOf(fault: unknown): unknown {
  return fault instanceof MongoBulkWriteError && fault.errorResponse instanceof MongoError
    ? fault.errorResponse
    : fault
}

function isOfDns(fault: unknown): fault is Error {
  return fault instanceof Error && 'syscall' in fault && String(fault.syscall).startsWith('query')
}

/** Whether it is a fault of a socket, which the driver passes on as it is when the connection ends before a write was sent completely. */
function isOfSocket(fault: unknown): fault is Error {
  return fault instanceof Error && 'code' in fault && brokenSocket.has(fault.code)
}

function isAway(fault: unknown): fault is MongoError {
  return (
    fault instanceof MongoNetworkError ||
    fault instanceof MongoServerSelectionError ||
    fault instanceof MongoNotConnectedError ||
    fault instanceof MongoClientClosedError ||
    fault instanceof MongoExpiredSessionError ||
    fault instanceof MongoServerClosedError ||
    fault instanceof MongoTopologyClosedError ||
    fault instanceof MongoWriteConcernError ||
    (fault instanceof MongoError && unexported.has(fault.name)) ||
    (fault instanceof MongoServerError && away.has(Number(fault.code)))
  )
}

/** A copy of the fault with name, message and code, without the fields in which the driver keeps data that was sent. */
function plain(fault: Error): Error {
  const code = 'code' in fault ? ` (${String(fault.code)})` : ''
  return new Error(`${fault.name}: ${fault.message}${code}`)
}

// The codes are from https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml.
const unauthorized = 13
const unauthenticated = 18
const duplicateKey = 11_000
const brokenSocket = new Set<unknown>([
  'ECONNABORTED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
])
/** Faults of the driver's pool whose classes the driver does not export. */
const unexported = new Set(['MongoPoolClosedError', 'MongoWaitQueueTimeoutError'])
const away = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  unauthorized,
  unauthenticated,
  43, // CursorNotFound, after a restart of the server
  50, // MaxTimeMSExpired
  64, // WriteConcernFailed
  89, // NetworkTimeout
  91, // ShutdownInProgress
  134, // ReadConcernMajorityNotAvailableYet
  175, // QueryPlanKilled
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  9_001, // SocketException
  10_107, // NotWritablePrimary
  11_600, // InterruptedAtShutdown
  11_602, // InterruptedDueToReplStateChange
  13_435, // NotPrimaryNoSecondaryOk
  13_436, // NotPrimaryOrSecondary
  14_031, // OutOfDiskSpace
])
