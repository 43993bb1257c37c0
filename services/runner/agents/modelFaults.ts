/** Faults of a model in words that a person can act on, the same for all agents. */
import { stripVTControlCharacters } from 'node:util'
import type { KeyKind } from '#domain/agentKeys.ts'
import type { PassingFault } from '#domain/task/modelRetry.ts'
import type { AgentError } from './port.ts'
import { shortened } from './shorten.ts'

/** The service that an agent's model belongs to, when the server's own key is used. */
export interface ModelService {
  readonly name: string
  /** The environment variable with the server's key. */
  readonly keyVariable: string
  /** Whether the command `/compact` summarizes the conversation. */
  readonly canCompact: boolean
}

/** The code of the fault if the fault is temporary, so that a repetition may succeed; otherwise `undefined`. */
export function passingFault({
  code,
  httpStatus,
}: Pick<AgentError, 'code' | 'httpStatus'>): PassingFault | undefined {
  if (code === 'rate_limited' || code === 'overloaded') return code
  return code === 'api_error' && (httpStatus ?? 0) >= 500 ? code : undefined
}

/** The notice that a call to the model failed with this status; `undefined` when the agent does not repeat the call. */
export function retryNotice(status: number | 'broken_off'): string | undefined {
  if (status === 'broken_off' || (status !== 429 && status < 500)) return undefined
  return `The model's API answers ${status}. The agent may try again by itself.`
}

/** The sentence for a known fault. For any other fault, the agent's words without the parts that mean nothing to a person. */
export function faultSentence(
  { code, httpStatus }: Pick<AgentError, 'code' | 'httpStatus'>,
  said: string,
  { name, keyVariable, canCompact }: ModelService,
): string {
  const answered = httpStatus === null ? '' : ` (${httpStatus})`
  const detail = plain(said)
  const shorten = canCompact
    ? 'Send /compact to summarize the conversation, or create a new task.'
    : 'Create a new task.'
  switch (code) {
    case 'unauthorized':
      return `${name} refused the key of this server; whoever runs it should check ${keyVariable}.${inBrackets(detail)}`
    case 'no_credit':
      return `The account of this server's key (${keyVariable}) has no credit left. Whoever runs the server has to add some; then try again.`
    case 'rate_limited':
      return `${name} takes no more requests with the key of this server at the moment${answered}. Try again in a few minutes.${inBrackets(detail)}`
    case 'overloaded':
      return `The model is overloaded${answered}. Neither your task nor the key of this server is at fault. Try again in a few minutes.`
    case 'api_error':
      return `${name} failed${answered}. Neither your task nor the key of this server is at fault. Try again in a few minutes.${inBrackets(detail)}`
    case 'bad_model':
      return `This model does not exist, or the key of this server may not use it. Choose another one in the model picker.${inBrackets(detail)}`
    case 'prompt_too_long':
      return `The conversation is too long for the model. ${shorten}`
    case 'request_too_large':
      return `The request is larger than the model takes, most likely by its images. ${shorten}`
    case 'budget':
    case 'max_turns':
    case 'aborted':
    case 'unknown_session':
      return detail === '' ? 'The agent failed without saying why.' : detail
    case 'other':
      if (httpStatus === 400) return `${name} refused the request${answered}.${inBrackets(detail)}`
      return detail === '' ? 'The agent failed without saying why.' : detail
  }
}

/** The account that pays for a model, if it is not the server's own. */
export interface PayingAccount {
  readonly payer: 'person' | 'project'
  readonly kind: KeyKind
  /** The service that the account's key belongs to. */
  readonly service: string
}

/** Rewords `error` if `account` pays instead of the server, and if the fault concerns the key or the service: says whose key was used. */
export function toldTo(account: PayingAccount | null, error: AgentError): AgentError {
  const message = account === null ? undefined : ownKeySentence(account, error)
  return message === undefined ? error : { ...error, message }
}

function ownKeySentence(
  { payer, kind, service }: PayingAccount,
  { code, httpStatus, message }: AgentError,
): string | undefined {
  const thing = kind === 'subscription' ? 'subscription' : 'key'
  const whose = payer === 'person' ? `your own ${thing}` : "the project's key"
  const place = payer === 'person' ? 'Settings, Agents and Keys' : "the project's settings, Models"
  const replace = `Replace or remove it under ${place}.`
  const answered = httpStatus === null ? '' : ` (${httpStatus})`
  // `message` is a sentence about the server's key that ends with the words of the service in brackets. Only these words are used.
  const said = inBrackets(/\. \((.+)\)$/s.exec(message)?.[1] ?? '')
  switch (code) {
    case 'unauthorized':
      return kind === 'subscription'
        ? `${service} refused the token of your own subscription, which may have ended. Run claude setup-token again and enter the new token under ${place}, or remove it there.${said}`
        : `${service} refused ${whose}. ${replace}${said}`
    case 'no_credit':
      return `The account of ${whose} at ${service} has no credit left. Add some there and try again, or remove it under ${place}.`
    case 'rate_limited':
      return `${service} takes no more requests with ${whose} at the moment${answered}; its limit may be used up. Try again later, or remove it under ${place}.${said}`
    case 'bad_model':
      return `This model does not exist, or ${whose} may not use it. Choose another one in the model picker.${said}`
    case 'overloaded':
      return `The model is overloaded${answered}. Neither your task nor ${whose} is at fault. Try again in a few minutes.`
    case 'api_error':
      return `${service} failed${answered}. Neither your task nor ${whose} is at fault. Try again in a few minutes.${said}`
    default:
      return undefined
  }
}

function inBrackets(detail: string): string {
  return detail === '' ? '' : ` (${detail})`
}

/** The words that an agent adds to a fault: advice for its own terminal, and names that exist only inside a sandbox. */
const meaningless = [
  /\s*This is a server-side issue, usually temporary — try again in a moment\./g,
  /\s*If it persists, check your inference gateway \([^)]*\)\./g,
  /\s*Run --model to pick a different model\./g,
  /^Failed to authenticate\.\s*/,
  /^API Error: (?:\d{3} |Request rejected \(\d{3}\) · )?/,
  /^Invalid API key · Fix external API key/,
  /,? ?(?:url: )?https?:\/\/(?:127\.0\.0\.1|localhost|gateway\.internal)[^\s,)]*/g,
  /[^.]*(?:gateway\.internal|inference gateway|--model)[^.]*\.?/g,
]

function plain(said: string): string {
  return meaningless.reduce((text, sign) => text.replace(sign, ''), said.trim()).trim()
}

/** Patterns that identify a fault, tried in this order: patterns for exact causes come before general ones. */
export type FaultSigns = readonly (readonly [AgentError['code'], RegExp])[]

/** The fault that an agent's words describe; `null` if it is unknown. */
export function faultIn(words: string, signs: FaultSigns, service: ModelService): AgentError | null {
  const text = stripVTControlCharacters(words).trim()
  const code = signs.find(([, sign]) => sign.test(text))?.[0]
  if (code === undefined) return null
  const status = /\b(?:40[0134]|413|429|5\d\d)\b/.exec(text)?.[0]
  const fault = { code, httpStatus: status === undefined ? null : Number(status) }
  return { type: 'error', ...fault, message: faultSentence(fault, shortened(text, 500), service) }
}

/** The error for words that describe no known fault. */
export function unknownFault(words: string, service: ModelService): AgentError {
  const fault = { code: 'other', httpStatus: null } as const
  return { type: 'error', ...fault, message: faultSentence(fault, words, service) }
}
