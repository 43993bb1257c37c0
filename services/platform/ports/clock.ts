/** The clock as a dependency: services get the current time from nowhere else. */
export interface Clock {
  now(): Date
}
