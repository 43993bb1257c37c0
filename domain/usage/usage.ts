/** A person's day: what was used of each model. What it costs is not known here, since prices are the operator's. */
import type { Decider, Decision } from '../kernel/decider.ts'
import type { RecordedOf } from '../kernel/event.ts'
import { ModelUseMetered, type MeteredUse, type UsageEvent } from './events.ts'

/** Tokens of one model; the four kinds do not overlap. */
export type UseOfModel = Omit<MeteredUse, 'executionId'>

/** By the name of the model. */
export type UsageState = ReadonlyMap<string, UseOfModel>

export interface UsageCommand {
  readonly type: 'MeterModelUse'
  readonly uses: readonly MeteredUse[]
}

function decide({ uses }: UsageCommand): Decision<UsageEvent> {
  return uses.map((use) => ModelUseMetered.of(use))
}

function evolve(state: UsageState, { data }: RecordedOf<UsageEvent>): UsageState {
  const before = state.get(data.model)
  return new Map(state).set(data.model, {
    model: data.model,
    inputTokens: (before?.inputTokens ?? 0) + data.inputTokens,
    outputTokens: (before?.outputTokens ?? 0) + data.outputTokens,
    cacheReadTokens: (before?.cacheReadTokens ?? 0) + data.cacheReadTokens,
    cacheWriteTokens: (before?.cacheWriteTokens ?? 0) + data.cacheWriteTokens,
  })
}

export const usage: Decider<UsageState, UsageCommand, UsageEvent> = {
  initial: new Map(),
  decide,
  evolve,
}
