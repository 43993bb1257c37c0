/** Why `cursor-agent` failed, in words that a person can act on: it says so on standard error, most often without a result. */
import { stripVTControlCharacters } from 'node:util'
import { cursorConfiguration } from '#domain/agents/cursor.ts'
import { faultSentence } from '../modelFaults.ts'
import type { AgentError } from '../port.ts'
import { shortened } from '../shorten.ts'

/** Patterns that identify a fault, tried in this order: those that name the cause come before those that only name a layer. */
const signs: readonly (readonly [AgentError['code'], RegExp])[] = [
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

const longest = 500

const service = {
  name: 'Cursor',
  keyVariable: cursorConfiguration.variables.key,
  canCompact: false,
} as const

/** The fault that a message describes; `null` if it is unknown, and then the message itself explains it best. */
export function faultOf(said: string): AgentError | null {
  const plain = stripVTControlCharacters(said).trim()
  const code = signs.find(([, sign]) => sign.test(plain))?.[0]
  if (code === undefined) return null
  const status = /\b(?:40[134]|429|5\d\d)\b/.exec(plain)?.[0]
  const fault = { code, httpStatus: status === undefined ? null : Number(status) }
  return { type: 'error', ...fault, message: faultSentence(fault, shortened(plain, longest), service) }
}

/** The error of a result whose `is_error` is set. */
export function errorOf(result: string): AgentError {
  const fault = { code: 'other', httpStatus: null } as const
  return faultOf(result) ?? { type: 'error', ...fault, message: faultSentence(fault, result, service) }
}
