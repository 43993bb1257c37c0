/** The model usage that an agent has not reported itself, as counted by the broker. */
import type { ModelUsed } from '../../agents/port.ts'
import type { ModelUsage } from '../../model/meter.ts'

/** The usage that the broker counted since the last `take`, by model. */
export interface MeteredUsage {
  add(usage: ModelUsage): void
  take(): readonly ModelUsed[]
}

export function meteredUsage(): MeteredUsage {
  const byModel = new Map<string, ModelUsed>()
  return {
    add(usage) {
      const before = byModel.get(usage.model)
      byModel.set(usage.model, {
        type: 'usage',
        model: usage.model,
        inputTokens: usage.inputTokens + (before?.inputTokens ?? 0),
        outputTokens: usage.outputTokens + (before?.outputTokens ?? 0),
        cacheReadTokens: usage.cacheReadTokens + (before?.cacheReadTokens ?? 0),
        cacheWriteTokens: usage.cacheWriteTokens + (before?.cacheWriteTokens ?? 0),
        costUsd: 0,
      })
    },
    take() {
      const taken = [...byModel.values()]
      byModel.clear()
      return taken
    },
  }
}
