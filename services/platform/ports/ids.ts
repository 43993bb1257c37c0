/** Ids for new things, as a dependency, so that tests can provide known ones. */
export interface Ids {
  /** A fresh random UUID (version 4), in lower case. */
  uuid(): string
}
