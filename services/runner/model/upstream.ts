/** The part behind the broker that answers the requests which the broker lets through. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Served } from './modelApi.ts'
import type { ModelUsage } from './meter.ts'

/** A request that the broker let through, with everything that is needed to answer it. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** What the broker knows about the path of the request. */
  readonly served: Served
  /** The complete body, without any content coding. */
  readonly body: Buffer
  /** Whether the model's service may fetch from the network when the request asks for it. */
  readonly modelFetches: boolean
  /** Must be called with the requested model before a model answers. */
  readonly onModel: (model: string | undefined) => void
  readonly onUsage: (usage: ModelUsage) => void
  readonly onFault: (fault: BrokerFault) => void
}

/** A fault for the log. Contains no body, token or key. */
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
  /** Answers or refuses the request of `exchange`. Resolves when the exchange is over. If this throws, the broker ends the exchange. */
  answer(exchange: Exchange): Promise<void>
  close(): void
}
