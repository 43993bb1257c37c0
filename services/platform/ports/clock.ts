/** The clock as a dependency. Services get the current time only from here, so that tests can set it. */
export interface Clock {
  now(): Date
}
