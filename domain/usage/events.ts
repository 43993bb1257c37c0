/** What a person uses of models, and has recorded of runs: one stream a person and day. Written where these have a limit for a day. */
import { z } from 'zod'
import { event, none, type EventOf } from '../kernel/event.schema.ts'
import { ExecutionId } from '../kernel/ids.schema.ts'

const Tokens = z.int().nonnegative()

/** What an answer of a model took, as the broker metered it, or as an agent told that reaches its model by itself. */
export const ModelUseMetered = event('ModelUseMetered', 1, {
  data: z.object({
    executionId: ExecutionId,
    /** As whoever answered named it: open, so that it must be short. */
    model: z.string().max(200),
    inputTokens: Tokens,
    outputTokens: Tokens,
    cacheReadTokens: Tokens,
    cacheWriteTokens: Tokens,
  }),
  content: none,
})

/** What of a run was recorded since the last of these, or since the run began. */
export const OutputMetered = event('OutputMetered', 1, {
  data: z.object({ executionId: ExecutionId, bytes: z.int().nonnegative() }),
  content: none,
})

export const usageEvents = [ModelUseMetered, OutputMetered] as const
export type UsageEvent = EventOf<(typeof usageEvents)[number]>
export type MeteredUse = EventOf<typeof ModelUseMetered>['data']
