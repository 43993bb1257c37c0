/** Why a turn of `codex` failed, in words that a person can act on. */
import { stripVTControlCharacters } from 'node:util'
import { codexConfiguration } from '#domain/agents/codex.ts'
import { budgetUsedUp, dayBudgetUsedUp } from '../../model/apiFault.ts'
import { faultSentence } from '../modelFaults.ts'
import type { AgentError } from '../port.ts'
import { shortened } from '../shorten.ts'

/** Patterns that identify a fault, tried in this order. */
const signs: readonly (readonly [AgentError['code'], RegExp])[] = [
  ['unknown_session', /no rollout found|thread\/resume failed/i],
  ['bad_model', /model\b.{0,120}\b(?:does not exist|not found|not supported)|model_not_found/i],
  ['no_credit', /insufficient_quota|exceeded your current quota|billing/i],
  ['prompt_too_long', /context_length_exceeded|maximum context length|context window/i],
  ['request_too_large', /\b413\b|request_too_large|payload too large/i],
  ['rate_limited', /\b429\b|rate.?limit|quota exceeded/i],
  ['unauthorized', /\b40[13]\b|incorrect api key|unauthorized/i],
  ['overloaded', /high demand|overloaded|\b503\b/i],
  ['api_error', /\b5\d\d\b|stream disconnected|error sending request|timed? ?out/i],
]
const longest = 500

const service = {
  name: "The model's API",
  keyVariable: codexConfiguration.variables.key,
  canCompact: false,
} as const

/** The fault in what was said; `null` when nothing of it is known. */
export function faultOf(said: string): AgentError | null {
  const plain = withoutAddress(stripVTControlCharacters(said).trim())
  const budget = [budgetUsedUp, dayBudgetUsedUp].find((sentence) => plain.includes(sentence))
  if (budget !== undefined) return { type: 'error', code: 'budget', message: budget, httpStatus: 403 }
  const code = signs.find(([, sign]) => sign.test(plain))?.[0]
  if (code === undefined) return null
  const status = /\b(?:40[0134]|413|429|5\d\d)\b/.exec(plain)?.[0]
  const fault = { code, httpStatus: status === undefined ? null : Number(status) }
  return { type: 'error', ...fault, message: faultSentence(fault, shortened(plain, longest), service) }
}

/** The error of a turn that failed. */
export function errorOf(said: string): AgentError {
  const fault = { code: 'other', httpStatus: null } as const
  return faultOf(said) ?? { type: 'error', ...fault, message: faultSentence(fault, said, service) }
}

/** Removes the broker's address, which errors about a request name and which means nothing to a person. */
export function withoutAddress(said: string): string {
  return said.replaceAll(/, url: https?:\/\/[^\s,)]+/g, '')
}
