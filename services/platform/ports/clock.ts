/** Time, as a collaborator: nothing else in the services asks what time it is. */
export interface Clock {
  /** The present moment. */
  now(): Date
}
