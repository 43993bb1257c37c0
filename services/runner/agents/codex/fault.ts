/** Why a turn of `codex` failed, in words that a person can act on. */
import { stripVTControlCharacters } from 'node:util'
import { codexConfiguration } from '#domain/agents/codex.ts'
import { budgetUsedUp, dayBudgetUsedUp } from '../../model/apiFault.ts'
import type { AgentError } from '../port.ts'
import { shortened } from '../shorten.ts'

/** What tells a fault, in the order in which it is looked for. */
const signs: readonly (readonly [AgentError['code'], RegExp])[] = [
  ['unknown_session', /no rollout found|thread\/resume failed/i],
  ['bad_model', /model\b.{0,120}\b(?:does not exist|not found|not supported)|model_not_found/i],
  ['rate_limited', /\b429\b|rate.?limit|quota exceeded/i],
  ['unauthorized', /\b40[13]\b|incorrect api key|unauthorized/i],
  ['overloaded', /high demand|overloaded|\b503\b/i],
  ['api_error', /\b5\d\d\b|stream disconnected|error sending request|timed? ?out/i],
]
const longest = 500

/** The fault in what was said; `null` when nothing of it is known. */
export function faultOf(said: string): AgentError | null {
  const plain = withoutAddress(stripVTControlCharacters(said).trim())
  const budget = [budgetUsedUp, dayBudgetUsedUp].find((sentence) => plain.includes(sentence))
  if (budget !== undefined) return { type: 'error', code: 'budget', message: budget, httpStatus: 403 }
  const code = signs.find(([, sign]) => sign.test(plain))?.[0]
  if (code === undefined) return null
  const status = /\b(?:40[0134]|429|5\d\d)\b/.exec(plain)?.[0]
  return {
    type: 'error',
    code,
    message: messageOf(code, shortened(plain, longest)),
    httpStatus: status === undefined ? null : Number(status),
  }
}

/** The error of a turn that failed. */
export function errorOf(said: string): AgentError {
  const message = said === '' ? 'The agent failed without saying why.' : withoutAddress(said)
  return faultOf(said) ?? { type: 'error', code: 'other', message, httpStatus: null }
}

/** What it says of a request names the broker's address, which is nothing to a person. */
export function withoutAddress(said: string): string {
  return said.replaceAll(/, url: https?:\/\/[^\s,)]+/g, '')
}

function messageOf(code: AgentError['code'], said: string): string {
  return code === 'unauthorized'
    ? `The model's API refused the key of this server; whoever runs it should check ${codexConfiguration.variables.key}. (${said})`
    : said
}
