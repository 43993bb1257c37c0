/** What happens to the log itself: it begins, and is restored from a backup. */
import { z } from 'zod'
import { event, none, type EventOf } from '../kernel/event.schema.ts'

/** The log was begun, under an id that no other log has. Its first epoch is 1. */
export const LogBegun = event('LogBegun', 1, { data: z.object({ logId: z.uuid() }), content: none })
/** The log was put back to an earlier state: what was known of it beyond this event is not so. */
export const LogRestored = event('LogRestored', 1, {
  data: z.object({ epoch: z.int().positive() }),
  content: none,
})

export const logEvents = [LogBegun, LogRestored] as const
export type LogEvent = EventOf<(typeof logEvents)[number]>
