/** What is behind the broker: it answers the requests that were let through. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ModelUsage } from './meter.ts'

/** A request that was let through, with the way to answer it. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** One of the API's `paths`. */
  readonly path: string
  /** The whole of it, without a coding. */
  readonly body: Buffer
  /** Whether the model's service may be told to fetch from the network itself. */
  readonly modelFetches: boolean
  /** Told which model the request asks, before it is answered. */
  readonly onModel: (model: string | undefined) => void
  readonly onUsage: (usage: ModelUsage) => void
  readonly onFault: (fault: BrokerFault) => void
}

/** What went wrong, for the log: without a body, a token or a key. */
export interface BrokerFault {
  readonly code:
    | 'bad_token'
    | 'not_served'
    | 'no_turn'
    | 'too_large'
    | 'too_many_values'
    | 'too_many'
    | 'budget'
    | 'malformed'
    | 'fetches'
    | 'key_refused'
    | 'unreachable'
    | 'redirected'
    | 'timed_out'
    | 'broke_off'
  readonly message: string
}

export interface Upstream {
  /** Answers or refuses, and resolves when the exchange is over. The broker ends an exchange in which it throws. */
  answer(exchange: Exchange): Promise<void>
  close(): void
}
