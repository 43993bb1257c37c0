/** A person's day: what was used of each model, and what was recorded of runs. What it costs is not known here, since prices are the operator's. */
import type { Decider, Decision } from '../kernel/decider.ts'
import type { RecordedOf } from '../kernel/event.ts'
import { ModelUseMetered, OutputMetered, type MeteredUse, type UsageEvent } from './events.ts'

/** Tokens of one model; the four kinds do not overlap. */
export type UseOfModel = Omit<MeteredUse, 'executionId'>

export interface UsageState {
  /** By the name of the model. */
  readonly models: ReadonlyMap<string, UseOfModel>
  readonly outputBytes: number
}

export type UsageCommand =
  | { readonly type: 'MeterModelUse'; readonly uses: readonly MeteredUse[] }
  | { readonly type: 'MeterOutput'; readonly executionId: string; readonly bytes: number }

function decide(command: UsageCommand): Decision<UsageEvent> {
  switch (command.type) {
    case 'MeterModelUse':
      return command.uses.map((use) => ModelUseMetered.of(use))
    case 'MeterOutput': {
      const { executionId, bytes } = command
      return bytes === 0 ? [] : [OutputMetered.of({ executionId, bytes })]
    }
  }
}

function evolve(state: UsageState, event: RecordedOf<UsageEvent>): UsageState {
  switch (event.type) {
    case 'OutputMetered':
      return { ...state, outputBytes: state.outputBytes + event.data.bytes }
    case 'ModelUseMetered': {
      const { data } = event
      const before = state.models.get(data.model)
      const models = new Map(state.models).set(data.model, {
        model: data.model,
        inputTokens: (before?.inputTokens ?? 0) + data.inputTokens,
        outputTokens: (before?.outputTokens ?? 0) + data.outputTokens,
        cacheReadTokens: (before?.cacheReadTokens ?? 0) + data.cacheReadTokens,
        cacheWriteTokens: (before?.cacheWriteTokens ?? 0) + data.cacheWriteTokens,
      })
      return { ...state, models }
    }
  }
}

export const usage: Decider<UsageState, UsageCommand, UsageEvent> = {
  initial: { models: new Map(), outputBytes: 0 },
  decide,
  evolve,
}
