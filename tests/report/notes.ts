/** Notes of tests for the end of the report: what was held against a stand-in, and not against the real thing. */
import { appendFileSync } from 'node:fs'

/**
 * Says, for the end of `npm test`, what `what` ran against. Repeated notes are shown once; outside `npm test` nothing is kept.
 * @example note('messages of the model', 'a scripted Messages API, not Anthropic')
 */
export function note(what: string, against: string): void {
  const file = process.env['FLIGHTDECK_TEST_NOTES']
  if (file) appendFileSync(file, `${JSON.stringify({ what, against })}\n`)
}
