/** The origins of the lines of a commit as an Agent Trace record, which other tools read from a git note. */
import { linesByTurn, type AddedLines, type CommitOrigins, type OriginTurn } from './lineOrigins.ts'
import { z } from 'zod'

const Line = z.int().min(1)

const Contributor = z.object({
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

/**
 * A record of Agent Trace 0.1.0 (https://agent-trace.dev). The published schema is in `tests/data/agentTrace/trace-record.json`. Sizes are limited,
 * because anybody who can push to a repository can write a note.
 */
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
type TraceConversation = z.infer<typeof Conversation>

/** The git ref under which other tools look for the notes. */
export const agentTraceRef = 'refs/notes/agent-trace'

const specification = '0.1.0'
/** The version of this product; a test compares it with package.json. */
const productVersion = '0.1.0'
const longestModel = 250

interface TraceHead {
  /** The id of the record, a UUID. */
  readonly id: string
  /** When the record was written, in the format of ISO 8601. */
  readonly at: string
}

/** Builds the record. It refers to turns by their addresses and contains no prompt and no person's name. */
export function traceRecordOf(
  { commit, files, turns, leftOut }: CommitOrigins,
  { id, at }: TraceHead,
): TraceRecord {
  return {
    version: specification,
    id,
    timestamp: at,
    vcs: { type: 'git', revision: commit },
    tool: { name: 'flightdeck', version: productVersion },
    files: files.map(({ path, lines }) => ({
      path,
      conversations: linesByTurn(lines).map(([executionId, written]) =>
        conversationOf(turns.get(executionId ?? ''), written),
      ),
    })),
    ...(leftOut > 0 && { metadata: { 'dev.flightdeck': { files_left_out: leftOut } } }),
  }
}

function conversationOf(turn: OriginTurn | undefined, lines: readonly AddedLines[]): TraceConversation {
  const ranges = lines.map(({ from, to, hash }) => ({
    start_line: from,
    end_line: to,
    content_hash: `sha256:${hash}`,
  }))
  if (turn === undefined) return { contributor: { type: 'unknown' }, ranges }
  const related = turn.proofUrl === null ? [] : [{ type: 'proof', url: turn.proofUrl }]
  return {
    ...(turn.url !== null && { url: turn.url }),
    contributor: contributorOf(turn),
    ranges,
    ...(related.length > 0 && { related }),
  }
}

/** Who wrote the lines of a turn. For a command that a person ran, this is `unknown`: the command may be a formatter or a package manager. */
function contributorOf({ kind, model, provider }: OriginTurn): NonNullable<TraceConversation['contributor']> {
  if (kind === 'command') return { type: 'unknown' }
  const name = model === null || provider === null ? undefined : `${provider}/${model}`
  return { type: 'ai', ...(name !== undefined && name.length <= longestModel && { model_id: name }) }
}
