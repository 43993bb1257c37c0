/** Why a turn of `claude` failed, from its result line, in words that a person can act on. */
import { budgetUsedUp, dayBudgetUsedUp } from '../../model/apiFault.ts'
import type { ResultLine } from './lines.ts'
import type { AgentError } from '../port.ts'

/** The error of a result whose `is_error` is set: its `subtype` alone may say `success`. */
export function errorOf(line: ResultLine): AgentError {
  const code = codeOf(line)
  const said = saidBy(line)
  return { type: 'error', code, message: messageOf(code, said), httpStatus: line.api_error_status ?? null }
}

/** What the broker says, which the CLI passes on. */
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
  switch (line.api_error_status) {
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
      return line.terminal_reason === 'api_error' ? 'api_error' : 'other'
  }
}

function messageOf(code: AgentError['code'], said: string): string {
  switch (code) {
    case 'aborted':
      return 'The run was interrupted.'
    case 'budget':
      return budgets.find((sentence) => said.includes(sentence)) ?? budgetUsedUp
    case 'unauthorized':
      return `The model's API refused the key of this server; whoever runs it should check ANTHROPIC_API_KEY. (${said})`
    case 'unknown_session':
    case 'bad_model':
    case 'rate_limited':
    case 'overloaded':
    case 'api_error':
    case 'max_turns':
    case 'other':
      return said === '' ? 'The agent failed without saying why.' : said
  }
}
