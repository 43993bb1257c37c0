/** The provenance of a commit's lines as an Agent Trace record, which other tools read from a git note. */
import type { TraceConversation, TraceRecord } from './agentTrace.schema.ts'
import { linesByTurn, type AddedLines, type CommitOrigins, type OriginTurn } from './lineOrigins.ts'

/** The ref of the notes, where other tools look for them. */
export const agentTraceRef = 'refs/notes/agent-trace'

const specification = '0.1.0'
/** The version of this product; a test compares it with package.json. */
const productVersion = '0.1.0'
const longestModel = 250

export interface TraceHead {
  /** A UUID. */
  readonly id: string
  /** ISO 8601. */
  readonly at: string
}

/** Builds the record. It identifies turns by their addresses and contains no prompt and no person's name. */
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

/** A command by a person can write anybody's text, for example by a formatter or a package manager. */
function contributorOf({ kind, model, provider }: OriginTurn): NonNullable<TraceConversation['contributor']> {
  if (kind === 'command') return { type: 'unknown' }
  const name = model === null || provider === null ? undefined : `${provider}/${model}`
  return { type: 'ai', ...(name !== undefined && name.length <= longestModel && { model_id: name }) }
}
