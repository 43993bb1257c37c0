/** Says why `cursor-agent` failed, in words that a person can act on. The program reports faults on standard error, usually without a result line. */
import { cursorConfiguration } from '#domain/agents/cursor.ts'
import { faultIn, unknownFault, type FaultSigns } from '../modelFaults.ts'
import type { AgentError } from '../port.ts'

const signs: FaultSigns = [
  ['bad_model', /cannot use this model|(?:invalid|unknown) model|model \S+ (?:is )?not (?:available|found)/i],
  [
    'unknown_session',
    /(?:chat|session|conversation)\b.{0,80}\b(?:not found|does not exist)|no such (?:chat|session)|could not find (?:chat|session)/i,
  ],
  [
    'unauthorized',
    /api key is invalid|invalid api key|not authenticated|unauthenticated|unauthorized|authentication required|not logged in|\b40[13]\b/i,
  ],
  ['rate_limited', /resource_exhausted|rate.?limit|too many requests|usage limit|\b429\b/i],
  ['overloaded', /overloaded|\bunavailable\b|\b5(?:03|29)\b/i],
  ['api_error', /connecterror|internal error|fetch failed|network|econn|enotfound|etimedout|\b5\d\d\b/i],
]

const service = {
  name: 'Cursor',
  keyVariable: cursorConfiguration.variables.key,
  canCompact: false,
} as const

/** The fault that the agent's `words` describe; `null` if they describe no known fault. */
export function faultOf(words: string): AgentError | null {
  return faultIn(words, signs, service)
}

/** The error for a result line with `is_error`. */
export function errorOf(result: string): AgentError {
  return faultOf(result) ?? unknownFault(result, service)
}
