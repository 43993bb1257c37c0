/** The clock as a dependency, for times that tests must be able to set. */
export interface Clock {
  now(): Date
}
