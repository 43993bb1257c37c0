/** Why a turn of `claude` failed, read from its result line, in words that a person can act on. */
import { claudeConfiguration } from '#domain/agents/claude.ts'
import { budgetUsedUp, dayBudgetUsedUp, faults } from '../../model/apiFault.ts'
import { faultSentence } from '../modelFaults.ts'
import type { ResultLine } from './lines.ts'
import type { AgentError } from '../port.ts'

const service = {
  name: "The model's API",
  keyVariable: claudeConfiguration.variables.key,
  canCompact: true,
} as const

/** The error of a result with `is_error`, whose `subtype` may be `success` all the same. */
export function errorOf(line: ResultLine): AgentError {
  const fault = { code: codeOf(line), httpStatus: line.api_error_status ?? null }
  return { type: 'error', ...fault, message: messageOf(fault, saidBy(line)) }
}

/** The broker's sentences about a used-up budget, which the CLI passes on. */
const budgets = [budgetUsedUp, dayBudgetUsedUp]

function saidBy({ result, errors }: ResultLine): string {
  return result ?? errors?.join('\n') ?? ''
}

function codeOf(line: ResultLine): AgentError['code'] {
  const said = saidBy(line)
  if (line.terminal_reason?.startsWith('aborted') === true) return 'aborted'
  if (line.subtype === 'error_max_turns') return 'max_turns'
  if (line.subtype === 'error_max_budget_usd' || budgets.some((sentence) => said.includes(sentence)))
    return 'budget'
  if (said.startsWith('No conversation found')) return 'unknown_session'
  if (/credit balance is too low|specified API usage limits/i.test(said)) return 'no_credit'
  if (line.terminal_reason === 'prompt_too_long' || /^prompt is too long/i.test(said))
    return 'prompt_too_long'
  if (said.includes(faults.noTurn.message)) return 'other'
  switch (line.api_error_status) {
    case 413:
      return 'request_too_large'
    case 401:
    case 403:
      return 'unauthorized'
    case 404:
      return 'bad_model'
    case 429:
      return 'rate_limited'
    case 529:
      return 'overloaded'
    default:
      // Another 4xx answer is no fault of the API: it would refuse the same request again.
      return line.terminal_reason === 'api_error' && (line.api_error_status ?? 500) >= 500
        ? 'api_error'
        : 'other'
  }
}

function messageOf(fault: Pick<AgentError, 'code' | 'httpStatus'>, said: string): string {
  switch (fault.code) {
    case 'aborted':
      return 'The run was interrupted.'
    case 'budget':
      return budgets.find((sentence) => said.includes(sentence)) ?? budgetUsedUp
    default:
      return faultSentence(fault, said, service)
  }
}
