/** Names for new things, as a collaborator: tests give ids that they know beforehand. */
export interface Ids {
  /** A fresh random UUID (version 4), in lower case. */
  uuid(): string
}
