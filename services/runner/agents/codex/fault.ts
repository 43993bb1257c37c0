/** Why a turn of `codex` failed, in words that a person can act on. */
import { codexConfiguration } from '#domain/agents/codex.ts'
import { budgetUsedUp, dayBudgetUsedUp } from '../../model/apiFault.ts'
import { faultIn, unknownFault, type FaultSigns } from '../modelFaults.ts'
import type { AgentError } from '../port.ts'

const signs: FaultSigns = [
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

const service = {
  name: "The model's API",
  keyVariable: codexConfiguration.variables.key,
  canCompact: false,
} as const

/** The fault that the words of codex describe; `null` if they describe no known fault. */
export function faultOf(words: string): AgentError | null {
  const budget = [budgetUsedUp, dayBudgetUsedUp].find((sentence) => words.includes(sentence))
  if (budget !== undefined) return { type: 'error', code: 'budget', message: budget, httpStatus: 403 }
  return faultIn(withoutAddress(words), signs, service)
}

/** The error for a turn that failed with these words of codex. */
export function errorOf(words: string): AgentError {
  return faultOf(words) ?? unknownFault(words, service)
}

/** The error for a turn that ended with this status; `null` when it ended well. */
export function errorAfter(status: string, message: string | undefined): AgentError | null {
  if (status === 'completed') return null
  if (status === 'interrupted')
    return { type: 'error', code: 'aborted', message: 'The agent was interrupted.', httpStatus: null }
  return errorOf(message ?? 'The agent does not say why its turn failed.')
}

/** Removes the broker's address from an error message, as the address means nothing to a person. */
export function withoutAddress(words: string): string {
  return words.replaceAll(/, url: https?:\/\/[^\s,)]+/g, '')
}
