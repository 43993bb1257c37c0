/** The schema of a stored event in a log that is kept in files. */
import { z } from 'zod'
import { EventMeta, Position } from '../../domain/kernel/event.schema.ts'

export const StoredEventShape = z.strictObject({
  id: z.string(),
  stream: z.string(),
  revision: z.int(),
  position: Position,
  type: z.string(),
  version: z.int(),
  at: z.string(),
  data: z.unknown(),
  content: z.string().nullable(),
  meta: EventMeta,
})
