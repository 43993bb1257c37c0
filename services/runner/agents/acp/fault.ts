/** Why a turn of an agent that speaks ACP failed, in words that a person can act on. */
import { z } from 'zod'
import { jsonOf } from '#platform/json.ts'
import { budgetUsedUp, dayBudgetUsedUp } from '../../model/apiFault.ts'
import { faultIn, unknownFault, type FaultSigns } from '../modelFaults.ts'
import type { AgentError } from '../port.ts'

const signs: FaultSigns = [
  [
    'bad_model',
    /\bmodels?\b.{0,120}\b(?:does not exist|not found|not supported)|not_found_error|ModelNotFound|^model: \S+$|\b404\b/i,
  ],
  ['no_credit', /credit balance|insufficient_quota|billing/i],
  ['prompt_too_long', /prompt is too long|context.?length|context window|ContextOverflow/i],
  ['request_too_large', /\b413\b|request_too_large|payload too large/i],
  ['rate_limited', /\b429\b|rate.?limit|quota exceeded|RESOURCE_EXHAUSTED/i],
  ['unauthorized', /\b40[13]\b|authentication_error|permission_error|api key|unauthorized/i],
  ['overloaded', /\b529\b|\b503\b|overloaded/i],
  ['api_error', /\b5\d\d\b|api_error|unable to connect|fetch failed|ECONNREFUSED|timed? ?out/i],
]

/** An error of the model's API as JSON. Some agents pass it on as the message of their refusal. */
const Told = z.object({ error: z.object({ code: z.number(), message: z.string() }) })

/** Makes the error for a turn that the agent refused. `words` is the message of the refusal, and `more` are its further details. */
export function errorOf(words: string, more: string, keyVariable: string): AgentError {
  const budget = [budgetUsedUp, dayBudgetUsedUp].find((sentence) => words.includes(sentence))
  if (budget !== undefined) return { type: 'error', code: 'budget', message: budget, httpStatus: 403 }
  const service = { name: "The model's API", keyVariable, canCompact: false }
  const told = Told.safeParse(jsonOf(words)).data?.error
  const said = told === undefined ? words.replace(/^Internal error: /, '') : `${told.code} ${told.message}`
  return faultIn(said, signs, service) ?? faultIn(more, signs, service) ?? unknownFault(said, service)
}

export function ownError(code: AgentError['code'], message: string): AgentError {
  return { type: 'error', code, message, httpStatus: null }
}

/** Makes the error for the `reason` with which a turn ended; `null` when it ended well. */
export function errorOfStop(reason: string): AgentError | null {
  switch (reason) {
    case 'end_turn':
      return null
    case 'cancelled':
      return ownError('aborted', 'The agent was interrupted.')
    case 'refusal':
      return ownError('other', 'The model refused to go on.')
    case 'max_tokens':
      return ownError('other', 'The answer grew longer than the model may write.')
    case 'max_turn_requests':
      return ownError('max_turns', 'The agent asked its model as often as it may in a turn.')
    default:
      return ownError('other', `The agent stopped: ${reason.slice(0, 200)}.`)
  }
}
