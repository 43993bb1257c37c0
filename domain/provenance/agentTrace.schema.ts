/**
 * Trace records of Agent Trace 0.1.0 (https://agent-trace.dev). `tests/data/agentTrace/trace-record.json` is its published schema. Parsing also
 * enforces size limits, because anybody who can push can write a note.
 */
import { z } from 'zod'

const Line = z.int().min(1)

export const Contributor = z.object({
  type: z.enum(['human', 'ai', 'mixed', 'unknown']),
  model_id: z.string().max(250).optional(),
})

const Range = z.object({
  start_line: Line,
  end_line: Line,
  content_hash: z.string().optional(),
  contributor: Contributor.optional(),
})

const Conversation = z.object({
  url: z.string().max(2_000).optional(),
  contributor: Contributor.optional(),
  ranges: z.array(Range).max(100_000),
  related: z.array(z.object({ type: z.string(), url: z.string().max(2_000) })).optional(),
})

export const TraceRecord = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  id: z.string(),
  timestamp: z.string(),
  vcs: z.object({ type: z.enum(['git', 'jj', 'hg', 'svn']), revision: z.string() }).optional(),
  tool: z.object({ name: z.string().optional(), version: z.string().optional() }).optional(),
  files: z
    .array(z.object({ path: z.string(), conversations: z.array(Conversation).max(10_000) }))
    .max(10_000),
  metadata: z.record(z.string(), z.unknown()).optional(),
})
export type TraceRecord = z.infer<typeof TraceRecord>
export type TraceConversation = z.infer<typeof Conversation>
