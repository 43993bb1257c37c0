/** Refusals of the broker, in the form of the model's API, so that the agent's CLI understands them. */
import type { ServerResponse } from 'node:http'
import type { ModelApi } from './modelApi.ts'
import type { BrokerFault } from './upstream.ts'

/** A refusal. `code` is for the log, `status` and `type` are for the client, and both get the message. */
export interface ApiFault extends BrokerFault {
  readonly status: number
  readonly type: string
}

/** The broker's message when a run has used up its budget. The code for each agent recognizes this sentence in the reports of the agent. */
export const budgetUsedUp = 'This run has used up its budget.'
export const dayBudgetUsedUp = "Today's budget is used up."

const fault = (code: BrokerFault['code'], status: number, type: string, message: string): ApiFault => ({
  code,
  status,
  type,
  message,
})
const noAnswer = "The model's API cannot be reached."

export const faults = {
  badToken: fault('bad_token', 401, 'authentication_error', 'This run has no access to the model.'),
  noTurn: fault('no_turn', 403, 'permission_error', 'No turn is running.'),
  tooLarge: fault('too_large', 413, 'request_too_large', 'The request is larger than 32 MB.'),
  tooManyValues: fault('too_many_values', 413, 'request_too_large', 'The request has too many values.'),
  tooMany: fault('too_many', 429, 'rate_limit_error', 'Too many requests at once from this run.'),
  budget: fault('budget', 403, 'permission_error', budgetUsedUp),
  dayBudget: fault('budget', 403, 'permission_error', dayBudgetUsedUp),
  unreachable: fault('unreachable', 502, 'api_error', noAnswer),
  brokeOff: fault('broke_off', 502, 'api_error', noAnswer),
  redirected: fault(
    'redirected',
    502,
    'api_error',
    "The model's API redirects elsewhere. Its configured base URL should name the address it redirects to.",
  ),
  timedOut: fault('timed_out', 504, 'api_error', "The model's API did not answer in time."),
}

export const notServed = ({ paths }: ModelApi): ApiFault =>
  fault('not_served', 404, 'not_found_error', `Only ${paths.join(' and ')} are served here.`)

export const malformed = (message: string, code: 'malformed' | 'fetches' = 'malformed'): ApiFault =>
  fault(code, 400, 'invalid_request_error', message)

/** Answers with a fault. If an answer has already begun, it is broken off, so that it is not taken for a complete one. */
export function answerFault(
  { errorBody }: ModelApi,
  response: ServerResponse,
  { status, type, message }: ApiFault,
): void {
  if (response.headersSent) response.destroy()
  else answerJson(response, status, errorBody(type, message, status))
}

export function answerJson(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}
