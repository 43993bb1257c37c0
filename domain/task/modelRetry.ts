/** The sentences that say why a model is unavailable for a short time, and when the turn asks it again. */

export const passingFaults = ['rate_limited', 'overloaded', 'api_error'] as const
export type PassingFault = (typeof passingFaults)[number]

const reasons: Readonly<Record<PassingFault, string>> = {
  rate_limited: "The model's API takes no more requests at the moment.",
  overloaded: 'The model is overloaded.',
  api_error: "The model's API failed.",
}

/** The sentence about a model that will be asked again. `time` is the time of day, in the reader's time zone if it is known. */
export function retrySentence(code: PassingFault, time: string): string {
  return `${reasons[code]} Trying once more at ${time}.`
}

/** The time of day in UTC, for readers whose time zone is not known: `14:05 UTC`. */
export function timeInUtc(isoTime: string): string {
  return `${isoTime.slice(11, 16)} UTC`
}
