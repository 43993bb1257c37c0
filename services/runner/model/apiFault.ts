/** What the broker refuses, and how it says so in the shape of the model's API, so that the agent's CLI understands it. */
import type { ServerResponse } from 'node:http'
import type { ModelApi } from './api.ts'

export interface ApiFault {
  readonly status: number
  readonly type: string
  readonly message: string
}

/** What the broker says when a run has used up its budget; the agent's parser knows the run's end by it. */
export const budgetUsedUp = 'This run has used up its budget.'
export const dayBudgetUsedUp = "Today's budget is used up."

export const faults = {
  badToken: { status: 401, type: 'authentication_error', message: 'This run has no access to the model.' },
  noTurn: { status: 403, type: 'permission_error', message: 'No turn is running.' },
  tooLarge: { status: 413, type: 'request_too_large', message: 'The request is larger than 32 MB.' },
  tooManyValues: {
    status: 413,
    type: 'request_too_large',
    message: 'The request has too many values.',
  },
  tooMany: { status: 429, type: 'rate_limit_error', message: 'Too many requests at once from this run.' },
  budget: { status: 403, type: 'permission_error', message: budgetUsedUp },
  dayBudget: { status: 403, type: 'permission_error', message: dayBudgetUsedUp },
  unreachable: { status: 502, type: 'api_error', message: "The model's API cannot be reached." },
  redirected: {
    status: 502,
    type: 'api_error',
    message:
      "The model's API redirects elsewhere. Its configured base URL should name the address it redirects to.",
  },
  timedOut: { status: 504, type: 'api_error', message: "The model's API did not answer in time." },
} as const satisfies Record<string, ApiFault>

export const notServed = ({ paths }: ModelApi): ApiFault => ({
  status: 404,
  type: 'not_found_error',
  message: `Only ${paths.join(' and ')} are served here.`,
})

export const malformed = (message: string): ApiFault => ({
  status: 400,
  type: 'invalid_request_error',
  message,
})
export const notOfApi = ({ label }: ModelApi): ApiFault =>
  malformed(`The request is not one of the ${label}.`)

/** Answers with a fault; when an answer has begun already, breaks it off so that it is not taken for a whole one. */
export function answerFault(
  { errorBody }: ModelApi,
  response: ServerResponse,
  { status, type, message }: ApiFault,
): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const body = JSON.stringify(errorBody(type, message))
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}
