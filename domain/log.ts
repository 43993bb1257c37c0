/** The identity of the log. All data derived from the log stores this identity, and is rebuilt when the identity of the log has changed. */
import { z } from 'zod'
import { event, fact, none, upcast, type EventOf } from './kernel/event.schema.ts'
import { KeyId, Sha256, Signature } from './kernel/ids.schema.ts'
import type { Decider, Decision } from './kernel/decider.ts'
import type { RecordedOf } from './kernel/event.ts'

/** The log was created, in epoch 1 and under an id that no other log has. */
export const LogBegun = fact('LogBegun', { logId: z.uuid() })
/** The data that every version of `LogRestored` has, for code that reads stored events without converting them to the current version. */
export const RestoredEpoch = z.object({ epoch: z.int().positive() })
/** The Merkle tree over the events of the restored log, signed for the new epoch with a key of the log. */
export const RestoredTree = z.object({
  size: z.int().positive(),
  root: Sha256,
  signature: Signature,
  keyId: KeyId,
})
export type RestoredTree = z.infer<typeof RestoredTree>
/** The log was restored to an earlier state, and later events no longer exist. */
export const LogRestored = event('LogRestored', 2, {
  data: RestoredEpoch.extend({
    /**
     * The signed tree of the events that remained; `null` for an event of version 1. Without a signature, anybody with write access to the log could
     * append such an event.
     */
    tree: RestoredTree.nullable(),
  }),
  content: none,
  upcasts: [
    upcast({ data: RestoredEpoch, content: none }, ({ data, content }) => ({
      data: { ...data, tree: null },
      content,
    })),
  ],
})

export const logEvents = [LogBegun, LogRestored] as const
export type LogEvent = EventOf<(typeof logEvents)[number]>

export interface LogIdentity {
  readonly logId: string
  /** The number of the epoch, from 1. Each restore begins a new epoch, in which positions from earlier epochs are invalid. */
  readonly epoch: number
}

export type LogState = ({ readonly kind: 'begun' } & LogIdentity) | { readonly kind: 'none' }

export type LogCommand =
  | { readonly type: 'BeginLog'; readonly logId: string }
  /** Begins a later epoch of the log. `tree` is the tree over the restored events, signed for that epoch. */
  | { readonly type: 'RestoreLog'; readonly epoch: number; readonly tree: RestoredTree }

function decide(command: LogCommand, state: LogState): Decision<LogEvent> {
  switch (command.type) {
    case 'BeginLog':
      return state.kind === 'none' ? [LogBegun.of({ logId: command.logId })] : []
    case 'RestoreLog':
      return state.kind === 'begun' && command.epoch > state.epoch
        ? [LogRestored.of({ epoch: command.epoch, tree: command.tree })]
        : []
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
