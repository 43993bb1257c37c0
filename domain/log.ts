/** The log's identity. Whatever is derived from the log keeps it, and is rebuilt when it differs. */
import { z } from 'zod'
import { event, none, type EventOf } from './kernel/event.schema.ts'
import type { Decider, Decision } from './kernel/decider.ts'
import type { RecordedOf } from './kernel/event.ts'

/** The log was created, under an id that no other log has. Its first epoch is 1. */
export const LogBegun = event('LogBegun', 1, { data: z.object({ logId: z.uuid() }), content: none })
/** The log was restored to an earlier state: events known from beyond this one no longer exist. */
export const LogRestored = event('LogRestored', 1, {
  data: z.object({ epoch: z.int().positive() }),
  content: none,
})

export const logEvents = [LogBegun, LogRestored] as const
export type LogEvent = EventOf<(typeof logEvents)[number]>

export interface LogIdentity {
  readonly logId: string
  /** Counts from 1, and up with each restore: positions of one epoch mean nothing in another. */
  readonly epoch: number
}

export type LogState = ({ readonly kind: 'begun' } & LogIdentity) | { readonly kind: 'none' }

export type LogCommand =
  | { readonly type: 'BeginLog'; readonly logId: string }
  /** `above` is the highest epoch known elsewhere, which a restored copy may not know. */
  | { readonly type: 'RestoreLog'; readonly above?: number }

function decide(command: LogCommand, state: LogState): Decision<LogEvent> {
  switch (command.type) {
    case 'BeginLog':
      return state.kind === 'none' ? [LogBegun.of({ logId: command.logId })] : []
    case 'RestoreLog':
      return state.kind === 'none'
        ? []
        : [LogRestored.of({ epoch: Math.max(state.epoch, command.above ?? 0) + 1 })]
  }
}

function evolve(state: LogState, event: RecordedOf<LogEvent>): LogState {
  switch (event.type) {
    case 'LogBegun':
      return { kind: 'begun', logId: event.data.logId, epoch: 1 }
    case 'LogRestored':
      return state.kind === 'none' ? state : { ...state, epoch: event.data.epoch }
  }
}

export const log: Decider<LogState, LogCommand, LogEvent> = { initial: { kind: 'none' }, decide, evolve }
