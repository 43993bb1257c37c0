/** Notes of tests for the end of the report: what was tested with a stand-in instead of the real thing. */
import { appendFileSync } from 'node:fs'

/**
 * Records, for the end of `npm test`, what `what` ran against. Repeated notes are shown once; outside of `npm test` nothing is recorded.
 * @example note('messages of the model', 'a scripted Messages API, not Anthropic')
 */
export function note(what: string, against: string): void {
  const file = process.env['FLIGHTDECK_TEST_NOTES']
  if (file) appendFileSync(file, `${JSON.stringify({ what, against })}\n`)
}
