/** What an adapter may throw; everything else that comes out of one is a defect. */

/** The engine behind a port cannot be reached or did not answer in time. The outcome of a write is unknown. */
export class EngineUnavailable extends Error {
  override readonly name = 'EngineUnavailable'
  readonly engine: string
  constructor(engine: string, cause?: unknown) {
    super(`${engine} does not answer`, { cause })
    this.engine = engine
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
