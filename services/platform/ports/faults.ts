/** The errors that the ports of engines declare. The port of the code host declares its own, `CodeHostFault`. */

/** Reports a fault from which an adapter has recovered: a sentence that says what happened, and the thrown fault, if there is one. */
export type ReportFault = (what: string, fault: unknown) => void

/** The engine behind a port, such as a database, cannot be reached or did not respond in time. The outcome of a write is unknown. */
export class EngineUnavailable extends Error {
  override readonly name = 'EngineUnavailable'
  readonly engine: string
  constructor(engine: string, cause?: unknown) {
    super(`${engine} does not answer`, { cause })
    this.engine = engine
  }
}

/** Whether the fault or its cause is a full disk, by the error code of the system or of SQLite. The write was then not done. */
export function isDiskFull(fault: unknown): boolean {
  if (!(fault instanceof Error)) return false
  const isSqlites = 'errcode' in fault && typeof fault.errcode === 'number' && (fault.errcode & 0xff) === 13
  const isSystems = 'code' in fault && (fault.code === 'ENOSPC' || fault.code === 'EDQUOT')
  return isSqlites || isSystems || isDiskFull(fault.cause)
}

/** The read models are still being computed from the log, so their documents cannot be read yet. */
export class NotFolded extends EngineUnavailable {
  constructor(collection: string) {
    super(`The read model of ${collection}`)
  }
}

/**
 * The engine cannot be used, and retrying does not help: for example, its address is invalid, it refuses the credentials, or it is too old. The
 * message says what to do and contains no secret.
 */
export class UnusableEngine extends Error {
  override readonly name = 'UnusableEngine'
}

/** All events of a stream were removed in the engine: deleted, or older than the engine's retention limit. */
export class RemovedStream extends Error {
  override readonly name = 'RemovedStream'
  constructor(stream: string, cause?: unknown) {
    super(`All events of ${stream} were removed from the log.`, { cause })
  }
}

/** The data is larger than the engine accepts. Nothing of the batch was written. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

/** Stored data has a newer format than this version supports. The data was not changed. */
export class NewerData extends Error {
  override readonly name = 'NewerData'
  constructor(file: string, found: number, known: number) {
    super(
      `The data in ${file} was written by a newer Flightdeck (format ${found}; this one knows ${known}). ` +
        'Start the newer version, or point DATA_DIR at another folder.',
    )
  }
}

/** Stored data has an older format than this version supports. The data was not changed. */
export class OlderData extends Error {
  override readonly name = 'OlderData'
  constructor(place: string) {
    super(
      `${place} holds a log in an early format that this Flightdeck can't read. ` +
        'Move the data aside, with its keys (mv data data.old), or point DATA_DIR or the engines at another place.',
    )
  }
}

/** A file is not a readable database. */
export class DamagedData extends Error {
  override readonly name = 'DamagedData'
  constructor(file: string, cause: unknown) {
    super(
      `${file} is damaged or is not a Flightdeck database. Restore a backup, or point DATA_DIR at another folder.`,
      { cause },
    )
  }
}

/** Stored bytes do not match their hash. */
export class DamagedBlob extends Error {
  override readonly name = 'DamagedBlob'
}

/** Encrypted bytes cannot be opened: they were changed, or encrypted with another context. */
export class CannotOpen extends Error {
  override readonly name: string = 'CannotOpen'
}

/**
 * Encrypted bytes cannot be opened because the key of their scope is missing, although nobody destroyed it on purpose: a destroyed key is remembered
 * as destroyed.
 */
export class KeyMissing extends CannotOpen {
  override readonly name = 'KeyMissing'
}

/** The key of a scope was destroyed, so nothing more can be encrypted for this scope. */
export class KeyDestroyed extends Error {
  override readonly name = 'KeyDestroyed'
}

/** The master key is malformed, or its file cannot be read or created, or can be read by others. The message does not contain the key. */
export class UnusableMasterKey extends Error {
  override readonly name = 'UnusableMasterKey'
}

/** The vault was created with another master key, so nothing in it can be opened. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey'
  constructor(vault: string) {
    super(
      `The keys in ${vault} were sealed with another master key. ` +
        'Use the original MASTER_KEY or key file.',
    )
  }
}

/** The worker no longer holds the lease of a job, or cannot be sure that it does, so another worker may have the job. Work on the job must stop. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}
