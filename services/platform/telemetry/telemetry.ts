/** Observations of a process's work, emitted to metrics and traces. Observers never throw and never block. */
import type { Server } from 'node:http'
import type { PageRoute } from '#domain/api/pageRoutes.ts'
import type { AgentName } from '#domain/agents.ts'
import type { FaultCode } from '#domain/kernel/errors.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import type { Cause, Origin } from '#platform/eventlog/eventLog.ts'

/** The beginning and the end of a piece of work, in milliseconds since 1970, with fractions. */
export interface Period {
  readonly begun: number
  readonly ended: number
}

export interface Lag {
  /** The number of events that are not in the read models yet, counted up to 1,000. */
  readonly events: number
  /** The age of the oldest event that is not in the read models yet; 0 when there is none. */
  readonly seconds: number
}

export type RequestAnswered = Period & {
  readonly kind: 'request'
  readonly requestId: string
  readonly method: string
  /** The path of the call, with `:name` for parameters; other requests have the values that `routeOf` describes. */
  readonly route: string
  /** The HTTP status; `gone` when the client disconnected before the answer was complete. */
  readonly status: number | 'gone'
}

export type CommandDone = Period & {
  readonly kind: 'command'
  readonly type: string
  readonly stream: string
  readonly cause: Cause
  readonly outcome: 'done' | 'unchanged' | 'repeated' | FaultCode
}

export type Appended = Period & {
  readonly kind: 'append'
  readonly stream: string
  readonly cause: Cause
  readonly events: readonly AnyRecorded[] | 'conflict' | 'fault'
}

/** Tokens as a model's API counts them. The four kinds do not overlap. */
export interface TokenCounts {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
}

/** A request to a model that the broker has forwarded. */
export interface ModelCall extends Period {
  /** The model that the request names; `undefined` if it names none. */
  readonly requestModel: string | undefined
  /** The usage that the answer reports; `undefined` if it reports none. */
  readonly usage: (TokenCounts & { readonly model: string }) | undefined
  /** The status of the answer; `broken_off` when the answer ended early. */
  readonly status: number | 'broken_off'
}

export type ModelCalled = ModelCall & {
  readonly kind: 'model_call'
  readonly executionId: string
  readonly agent: AgentName
}

export type Observation =
  | RequestAnswered
  | CommandDone
  | Appended
  | ModelCalled
  /** A batch of events was applied to the read models. */
  | (Period & { readonly kind: 'projected'; readonly events: readonly StoredEvent[] })
  /** This process is the projector from now on; if `lag` is `null`, it no longer is. `lag` returns how far it is behind the log. */
  | { readonly kind: 'projector'; readonly lag: (() => Promise<Lag>) | null }
  /** An event was sent to viewers; `messages` counts the messages to all of them. */
  | (Period & { readonly kind: 'messages_sent'; readonly event: AnyRecorded; readonly messages: number })
  /** A viewer was sent messages that it had missed. */
  | { readonly kind: 'messages_replayed'; readonly messages: number }
  | { readonly kind: 'rooms'; readonly open: number }
  | { readonly kind: 'socket'; readonly change: 'opened' | 'closed' | 'cut_off' }
  /** A job was queued because of an event. */
  | (Period & { readonly kind: 'queued'; readonly job: string; readonly event: StoredEvent })
  /**
   * This process hands out jobs from now on, and `pending` counts the queued and running jobs by kind. If `pending` is `null`, it no longer hands out
   * jobs.
   */
  | {
      readonly kind: 'dispatcher'
      readonly pending: (() => Promise<ReadonlyMap<string, number>>) | null
    }
  /**
   * This process seals the log from now on; if `state` is `null`, it no longer does. `sealedAt` is when it last sealed the log, in ms since 1970.
   * `refused` is whether it refuses to seal the log.
   */
  | {
      readonly kind: 'sealer'
      readonly state: { readonly sealedAt: number | null; readonly refused: boolean } | null
    }
  | {
      readonly kind: 'delivery'
      readonly job: string
      readonly outcome: 'done' | 'given_back' | 'set_aside' | 'failed'
    }
  | { readonly kind: 'run_begun'; readonly job: string }
  | (Period & {
      readonly kind: 'run_ended'
      readonly job: string
      readonly origin: Origin
      readonly ok: boolean
    })
  /** A page of the client was viewed. */
  | { readonly kind: 'page_viewed'; readonly route: PageRoute }
  /** A server for people or other services was started. Its connections are counted from now on. */
  | { readonly kind: 'server'; readonly http: Server }

export type Emit = (observation: Observation) => void

export const noTelemetry: Emit = () => {}

export function emitToAll(watching: readonly Emit[]): Emit {
  const [only] = watching
  if (only === undefined) return noTelemetry
  if (watching.length === 1) return only
  return (observation) => {
    for (const emit of watching) emit(observation)
  }
}

/** The present time for the beginnings and ends of periods. It never goes back. */
export const now = (): number => performance.timeOrigin + performance.now()
