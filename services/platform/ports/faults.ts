/** What an adapter may throw; everything else that comes out of one is a defect. */

/** Where an adapter tells of a fault that it survived by itself: what happened, in a sentence, and the fault. */
export type ReportFault = (what: string, fault: unknown) => void

/** The engine behind a port cannot be reached or did not answer in time. The outcome of a write is unknown. */
export class EngineUnavailable extends Error {
  override readonly name = 'EngineUnavailable'
  readonly engine: string
  constructor(engine: string, cause?: unknown) {
    super(`${engine} does not answer`, { cause })
    this.engine = engine
  }
}

/** Documents are asked for that are being folded from the log and cannot be read before that is done. */
export class NotFolded extends EngineUnavailable {
  constructor(collection: string) {
    super(`The read model of ${collection}`)
  }
}

/**
 * The engine cannot be used, and waiting does not mend it: its address is none, it refuses the credentials, it is too old.
 * The message says what to do and shows no secret.
 */
export class UnusableEngine extends Error {
  override readonly name = 'UnusableEngine'
}

/** All events of a stream were removed on the engine: deleted, or older than it keeps them. */
export class RemovedStream extends Error {
  override readonly name = 'RemovedStream'
  constructor(stream: string, cause?: unknown) {
    super(`All events of ${stream} were removed from the log.`, { cause })
  }
}

/** More than the engine takes in one piece. Nothing of it, nor of the batch it came in, was written. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

/** Stored data are of a format that this version does not know. They were not touched. */
export class NewerData extends Error {
  override readonly name = 'NewerData'
  constructor(file: string, found: number, known: number) {
    super(
      `The data in ${file} was written by a newer Flightdeck (format ${found}; this one knows ${known}). ` +
        'Start the newer version, or point DATA_DIR at another folder.',
    )
  }
}

/** Stored data are of a format from before the first that is read. They were not touched. */
export class OlderData extends Error {
  override readonly name = 'OlderData'
  constructor(place: string) {
    super(
      `${place} holds a log in an early format that this Flightdeck can't read. ` +
        'Move the data aside, with its keys (mv data data.old), or point DATA_DIR or the engines at another place.',
    )
  }
}

/** A database file cannot be read as one. */
export class DamagedData extends Error {
  override readonly name = 'DamagedData'
  constructor(file: string, cause: unknown) {
    super(
      `${file} is damaged or is not a Flightdeck database. Restore a backup, or point DATA_DIR at another folder.`,
      { cause },
    )
  }
}

/** Stored bytes are not what their name says. */
export class DamagedBlob extends Error {
  override readonly name = 'DamagedBlob'
}

/** Sealed bytes do not open: changed, or sealed for another place. */
export class CannotOpen extends Error {
  override readonly name = 'CannotOpen'
}

/** The scope's key was destroyed: nothing more can be sealed under it. */
export class KeyDestroyed extends Error {
  override readonly name = 'KeyDestroyed'
}

/** The master key is not there in a usable form. The message never shows it. */
export class UnusableMasterKey extends Error {
  override readonly name = 'UnusableMasterKey'
}

/** The vault was made with another master key: nothing in it would open. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey'
  constructor(vault: string) {
    super(
      `The keys in ${vault} were sealed with another master key. ` +
        'Use the original MASTER_KEY or key file.',
    )
  }
}

/** The lease of a job ran out and the job was given to another worker: what is done for it must stop. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}
