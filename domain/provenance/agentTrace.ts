/** The origin of a commit's lines as a trace record of Agent Trace, which other tools read from a git note. */
import type { TraceConversation, TraceRecord } from './agentTrace.schema.ts'
import { linesByTurn, type AddedLines, type CommitOrigins, type OriginTurn } from './lineOrigins.ts'

/** Where the note of a commit is, as other tools look for it. */
export const agentTraceRef = 'refs/notes/agent-trace'

const specification = '0.1.0'
/** Of this product; a test holds it to package.json. */
const productVersion = '0.1.0'
const longestModel = 250

export interface TraceHead {
  /** A UUID. */
  readonly id: string
  /** ISO 8601. */
  readonly at: string
}

/** The record. It names turns by their addresses and holds no prompt and no person's name. */
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

/** What a person's command wrote may be anybody's: a formatter's, a package manager's. */
function contributorOf({ kind, model, provider }: OriginTurn): NonNullable<TraceConversation['contributor']> {
  if (kind === 'command') return { type: 'unknown' }
  const name = model === null || provider === null ? undefined : `${provider}/${model}`
  return { type: 'ai', ...(name !== undefined && name.length <= longestModel && { model_id: name }) }
}
