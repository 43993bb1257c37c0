/**
 * A person's usage on one day that counts towards the limits of this server: tokens by model, if the server pays for them, and bytes of recorded
 * output. It has no costs, because the operator may change the prices.
 */
import { z } from 'zod'
import { fact, type EventOf } from './kernel/event.schema.ts'
import { ExecutionId } from './kernel/ids.schema.ts'
import type { Decider, Decision } from './kernel/decider.ts'
import type { RecordedOf } from './kernel/event.ts'

const Tokens = z.int().nonnegative()

/** The tokens of a model's response, as counted by the broker, or as reported by an agent that calls its model directly. */
export const ModelUseMetered = fact('ModelUseMetered', {
  executionId: ExecutionId,
  /** The model's name in the provider's response. Names are not encrypted, and the limit keeps longer texts out of them. */
  model: z.string().max(200),
  inputTokens: Tokens,
  outputTokens: Tokens,
  cacheReadTokens: Tokens,
  cacheWriteTokens: Tokens,
})

/**
 * How many bytes of an execution's or a shell's output were recorded since its last `OutputMetered`. For a shell, `executionId` is the shell's id.
 */
export const OutputMetered = fact('OutputMetered', { executionId: ExecutionId, bytes: z.int().nonnegative() })

export const usageEvents = [ModelUseMetered, OutputMetered] as const
export type UsageEvent = EventOf<(typeof usageEvents)[number]>
export type MeteredUse = EventOf<typeof ModelUseMetered>['data']

/** The tokens of a model. The four numbers do not overlap: each token is in only one of them. */
export type UseOfModel = Omit<MeteredUse, 'executionId'>

export interface UsageState {
  /** Tokens by the name of the model. */
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
