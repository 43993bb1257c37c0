/** Load, decide, append: the one way a command takes effect. */
import { LRUCache } from 'lru-cache'
import type { DomainEvent } from '#domain/events.ts'
import { isRefusal, type Decider } from '#domain/kernel/decider.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Position, RecordedOf } from '#domain/kernel/event.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { serializeByKey } from '../async/queue.ts'
import {
  emptyHead,
  retryWhileUnavailable,
  UnreadableEvent,
  type Appended,
  type Cause,
  type EventLog,
  type Head,
} from '../eventlog/eventLog.ts'

/** What came of a command. `repeated`: it had taken effect before, under the same command id. */
export interface Executed<State> {
  readonly state: State
  readonly head: Head
  /** Where the stream ends now; `null` when nothing was ever recorded in it. */
  readonly position: Position | null
  readonly repeated: boolean
  readonly events: readonly AnyRecorded[]
}

export interface Loaded<State> {
  readonly state: State
  readonly head: Head
  readonly position: Position | null
}

/** Lets the events be appended, or throws a `Fault`: for what a decider cannot know, since it is not in its stream. */
export type Admit<E> = (events: readonly E[], append: () => Promise<Appended>) => Promise<Appended>

export interface Commands {
  /** `admit` is asked before each append. Throws `Fault` when the decider refuses, or `conflict` when others keep winning the race for the stream. */
  execute<State, Command, E extends DomainEvent>(
    decider: Decider<State, Command, E>,
    stream: string,
    command: Command,
    cause: Cause,
    admit?: Admit<E>,
  ): Promise<Executed<State>>
  /** Whether a person's command took effect in the stream before: what it needed may be gone, and is not needed again. */
  hasTakenEffect<State, Command, E extends DomainEvent>(
    decider: Decider<State, Command, E>,
    stream: string,
    commandId: string,
  ): Promise<boolean>
  /** The revision up to which the stream is known in this process, without a look at the log; `-1` when it is not. */
  knownRevision(stream: string): number
  /** The state as the log has it now. */
  load<State, Command, E extends DomainEvent>(
    decider: Decider<State, Command, E>,
    stream: string,
  ): Promise<Loaded<State>>
}

interface Snapshot {
  readonly state: unknown
  readonly head: Head
  readonly position: Position | null
  /** People's commands that took effect in this stream, the latest last: a repeat is answered from here. */
  readonly commandIds: Map<string, Position>
}

const readBatch = 1_000
const conflictAttempts = 20
const rememberedCommands = 2_000
const rememberedStreams = 2_000

/** Commands over the log. States are remembered and only what is newer is read, so a long stream costs what it grew by. */
export function commands(log: EventLog): Commands {
  const snapshots = new LRUCache<string, Snapshot>({ max: rememberedStreams })
  // One at a time per stream in this process: other processes are met by the expected revision.
  const serialized = serializeByKey()

  async function catchUp<State, Command, E extends DomainEvent>(
    decider: Decider<State, Command, E>,
    stream: string,
  ): Promise<Snapshot & { readonly state: State }> {
    const known = snapshots.get(stream)
    // Only `advance` puts states here, each from the decider of its stream.
    let snapshot = known
      ? { ...known, state: known.state as State }
      : { state: decider.initial, head: emptyHead, position: null, commandIds: new Map<string, Position>() }
    for (;;) {
      const events = await log.read(stream, snapshot.head.revision + 1, readBatch)
      const [first] = events
      if (first && first.meta.prev !== snapshot.head.hash) {
        // What is known here may be of a log that was restored since: the next look begins anew.
        snapshots.delete(stream)
        throw new UnreadableEvent(first, 'broken_chain')
      }
      snapshot = advance(decider, stream, snapshot, events)
      if (events.length < readBatch) return snapshot
    }
  }

  function advance<State, Command, E extends DomainEvent>(
    decider: Decider<State, Command, E>,
    stream: string,
    snapshot: Snapshot & { readonly state: State },
    events: readonly AnyRecorded[],
  ): Snapshot & { readonly state: State } {
    const last = events.at(-1)
    if (!last) return snapshot
    const after = {
      state: events.reduce((state, event) => decider.evolve(state, event as RecordedOf<E>), snapshot.state),
      head: { revision: last.revision, hash: last.meta.hash },
      position: last.position,
      commandIds: remember(snapshot.commandIds, events),
    }
    snapshots.set(stream, after)
    return after
  }

  return {
    load: (decider, stream) => catchUp(decider, stream),
    knownRevision: (stream) => snapshots.peek(stream)?.head.revision ?? -1,
    hasTakenEffect: async (decider, stream, commandId) =>
      (await catchUp(decider, stream)).commandIds.has(commandId),
    execute: (decider, stream, command, cause, admit = (_, append) => append()) =>
      serialized(stream, async () => {
        for (let attempt = 1; attempt <= conflictAttempts; attempt += 1) {
          const snapshot = await retryWhileUnavailable(() => catchUp(decider, stream), cause)
          const { state, head, position, commandIds } = snapshot
          const earlier = commandIds.get(cause.commandId)
          if (earlier !== undefined) return { state, head, position: earlier, repeated: true, events: [] }
          const decision = decider.decide(command, state)
          if (isRefusal(decision)) throw new Fault(decision.refused, decision.sentence, decision.field)
          if (decision.length === 0) return { state, head, position, repeated: false, events: [] }
          const result = await admit(decision, () => log.append(stream, head, decision, cause))
          if (result.kind === 'conflict') continue
          const after = advance(decider, stream, snapshot, result.events)
          return {
            state: after.state,
            head: after.head,
            position: after.position,
            repeated: false,
            events: result.events,
          }
        }
        throw new Fault('conflict')
      }),
  }
}

/** Adds what took effect; the map belongs to one stream's snapshot alone and is added to in place. */
function remember(commandIds: Map<string, Position>, events: readonly AnyRecorded[]): Map<string, Position> {
  for (const { meta, position } of events) {
    // Only people repeat a command. What a run reports, by the thousands and each under a fresh id, would push theirs out.
    if (meta.actor.kind === 'user') commandIds.set(meta.commandId, position)
  }
  for (const oldest of commandIds.keys()) {
    if (commandIds.size <= rememberedCommands) break
    commandIds.delete(oldest)
  }
  return commandIds
}
