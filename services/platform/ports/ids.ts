/** Creates ids. This is a port, so that tests can provide known ids. */
export interface Ids {
  /** Returns a new random UUID (version 4) in lower case. */
  uuid(): string
}
