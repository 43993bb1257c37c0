/** Load, decide, append: the only way to execute a command. */
import { LRUCache } from 'lru-cache'
import type { DomainEvent } from '#domain/events.ts'
import { isRefusal, type Decider } from '#domain/kernel/decider.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Position, RecordedOf } from '#domain/kernel/event.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { serializeByKey } from '../async/queue.ts'
import { EngineUnavailable } from '../ports/faults.ts'
import { observeCommand } from '../telemetry/instrumentation.ts'
import { noTelemetry, type Emit } from '../telemetry/telemetry.ts'
import {
  emptyHead,
  retryWhileUnavailable,
  UnreadableEvent,
  type Appended,
  type Cause,
  type EventLog,
  type Head,
} from '../eventlog/eventLog.ts'

/** The result of a command. `repeated`: a command with the same id had already taken effect. */
export interface Executed<State> {
  readonly state: State
  readonly head: Head
  /** The position at which the stream ends; for a repeated command, the position at which it took effect; `null` for a stream without events. */
  readonly position: Position | null
  readonly repeated: boolean
  readonly events: readonly AnyRecorded[]
}

export interface Loaded<State> {
  readonly state: State
  readonly head: Head
  readonly position: Position | null
}

/**
 * Checks conditions for an append that do not depend on its stream: resolves, or throws a `Fault`. The returned function is called with the result of
 * the append, or with `null` when it failed.
 */
export type Admit<E> = (events: readonly E[]) => Promise<(result: Appended | null) => void>

export interface Commands {
  /**
   * Loads, decides and appends. `admit` is called before each append. Throws `Fault` when the decider refuses, and `conflict` when other processes
   * keep appending to the stream.
   */
  execute<State, Command, E extends DomainEvent>(
    decider: Decider<State, Command, E>,
    stream: string,
    command: Command,
    cause: Cause,
    admit?: Admit<E>,
  ): Promise<Executed<State>>
  /** Whether a person's command has already taken effect in the stream. */
  hasTakenEffect<State, Command, E extends DomainEvent>(
    decider: Decider<State, Command, E>,
    stream: string,
    commandId: string,
  ): Promise<boolean>
  /** The last revision of the stream known to this process, without reading the log; `-1` for an unknown stream. */
  knownRevision(stream: string): number
  /** The state known to this process, which may be outdated, without reading the log; `undefined` for an unknown stream. */
  known<State, Command, E extends DomainEvent>(
    decider: Decider<State, Command, E>,
    stream: string,
  ): State | undefined
  /** The current state, read from the log. */
  load<State, Command, E extends DomainEvent>(
    decider: Decider<State, Command, E>,
    stream: string,
  ): Promise<Loaded<State>>
}

interface Snapshot {
  readonly state: unknown
  readonly head: Head
  readonly position: Position | null
  /** Commands by people that took effect in this stream, the latest last. Repeats are answered from this map. */
  readonly commandIds: Map<string, Position>
}

const readBatch = 1_000
const conflictAttempts = 20
const outdated = { kind: 'conflict', actual: -1 } as const
const rememberedCommands = 2_000
const rememberedStreams = 2_000

interface CommandLog {
  readonly log: EventLog
  readonly snapshots: LRUCache<string, Snapshot>
}

type Known<State> = Snapshot & { readonly state: State }

/**
 * Executes commands on the streams of `log`. The states of streams are cached and only newer events are read, so that loading a long stream costs
 * only its growth. `emit` is called when a command ends.
 */
export function commands(log: EventLog, emit: Emit = noTelemetry): Commands {
  const snapshots = new LRUCache<string, Snapshot>({ max: rememberedStreams })
  const on: CommandLog = { log, snapshots }
  // Runs one command per stream at a time in this process. The expected revision protects against other processes.
  const serialized = serializeByKey()
  return {
    load: (decider, stream) => catchUp(on, decider, stream),
    known: <State>(_decider: unknown, stream: string) => cachedIn<State>(on, stream)?.state,
    knownRevision: (stream) => snapshots.peek(stream)?.head.revision ?? -1,
    hasTakenEffect: async (decider, stream, commandId) =>
      (await catchUp(on, decider, stream)).commandIds.has(commandId),
    execute: (decider, stream, command, cause, admit) =>
      observeCommand(emit, { command, stream, cause }, () =>
        serialized(stream, () => execute(on, decider, stream, command, cause, admit)),
      ),
  }
}

async function execute<State, Command, E extends DomainEvent>(
  on: CommandLog,
  decider: Decider<State, Command, E>,
  stream: string,
  command: Command,
  cause: Cause,
  admit: Admit<E> | undefined,
): Promise<Executed<State>> {
  // Tries the cached state first, without reading the log. If it is outdated, the append ends as a conflict. A decision that appends nothing or is
  // refused is made again on the newest state.
  let cached = cachedIn<State>(on, stream)
  for (let attempt = 1; attempt <= conflictAttempts; attempt += 1) {
    const tried = cached
    cached = undefined
    const snapshot = tried ?? (await retryWhileUnavailable(() => catchUp(on, decider, stream), cause))
    const { state, head, position, commandIds } = snapshot
    const earlier = commandIds.get(cause.commandId)
    const decision = earlier === undefined ? decider.decide(command, state) : []
    if (tried && (isRefusal(decision) || decision.length === 0)) continue
    if (earlier !== undefined) return { state, head, position: earlier, repeated: true, events: [] }
    if (isRefusal(decision)) throw new Fault(decision.refused, decision.sentence, decision.field)
    if (decision.length === 0) return { state, head, position, repeated: false, events: [] }
    const append = () => on.log.append(stream, head, decision, cause)
    const appending = admit ? appendAdmitted(admit, decision, append) : append()
    const result = await appending.catch((fault: unknown) => {
      // Decides again: the newest state may give another reason, or show that the command has taken effect.
      if (tried && !(fault instanceof EngineUnavailable)) return outdated
      throw fault
    })
    if (result.kind === 'conflict') continue
    const { events } = result
    const after = advance(on, decider, stream, snapshot, events)
    return { state: after.state, head: after.head, position: after.position, repeated: false, events }
  }
  throw new Fault('conflict')
}

async function appendAdmitted<E>(
  admit: Admit<E>,
  events: readonly E[],
  append: () => Promise<Appended>,
): Promise<Appended> {
  const settle = await admit(events)
  let result: Appended | null = null
  try {
    result = await append()
    return result
  } finally {
    settle(result)
  }
}

function cachedIn<State>({ snapshots }: CommandLog, stream: string): Known<State> | undefined {
  // The cast holds because only `advance` stores states here, each from the decider of its stream.
  return snapshots.get(stream) as Known<State> | undefined
}

/** Reads the events that the stream has beyond its cached state, and applies them to that state. */
async function catchUp<State, Command, E extends DomainEvent>(
  on: CommandLog,
  decider: Decider<State, Command, E>,
  stream: string,
): Promise<Known<State>> {
  let snapshot: Known<State> = cachedIn(on, stream) ?? {
    state: decider.initial,
    head: emptyHead,
    position: null,
    commandIds: new Map<string, Position>(),
  }
  for (;;) {
    const events = await on.log.read(stream, snapshot.head.revision + 1, readBatch)
    const [first] = events
    if (first && first.meta.prev !== snapshot.head.hash) {
      // The log may have been restored to a state before the snapshot, so the next read starts from the beginning.
      on.snapshots.delete(stream)
      throw new UnreadableEvent(first, 'broken_chain')
    }
    snapshot = advance(on, decider, stream, snapshot, events)
    if (events.length < readBatch) return snapshot
  }
}

function advance<State, Command, E extends DomainEvent>(
  { snapshots }: CommandLog,
  decider: Decider<State, Command, E>,
  stream: string,
  snapshot: Known<State>,
  events: readonly AnyRecorded[],
): Known<State> {
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

/** Adds the ids of people's commands that took effect. Changes the map in place, since it belongs to the snapshot of one stream. */
function remember(commandIds: Map<string, Position>, events: readonly AnyRecorded[]): Map<string, Position> {
  for (const { meta, position } of events) {
    // Only people repeat commands. The thousands of reports of a run would displace people's commands from the map.
    if (meta.actor.kind === 'user') commandIds.set(meta.commandId, position)
  }
  if (commandIds.size <= rememberedCommands) return commandIds
  for (const oldest of commandIds.keys()) {
    if (commandIds.size <= rememberedCommands) break
    commandIds.delete(oldest)
  }
  return commandIds
}
