/** Why and when a turn asks a model again that was temporarily unavailable. */

export const passingFaults = ['rate_limited', 'overloaded', 'api_error'] as const
export type PassingFault = (typeof passingFaults)[number]

const reasons: Readonly<Record<PassingFault, string>> = {
  rate_limited: "The model's API takes no more requests at the moment.",
  overloaded: 'The model is overloaded.',
  api_error: "The model's API failed.",
}

/** The sentence that says why and when the model is asked again; `time` is a time of day in the form that suits the reader. */
export function retrySentence(code: PassingFault, time: string): string {
  return `${reasons[code]} Trying once more at ${time}.`
}

/** The time of day in UTC, for readers whose time zone is not known: `14:05 UTC`. */
export function timeInUtc(isoTime: string): string {
  return `${isoTime.slice(11, 16)} UTC`
}
