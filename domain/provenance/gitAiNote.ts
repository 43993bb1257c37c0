/** The origin of a commit's lines as an authorship log of the Git AI Standard 3.0.0, which `git-ai blame` reads from a git note. */
import {
  linesByTurn,
  type AddedFile,
  type AddedLines,
  type CommitOrigins,
  type OriginTurn,
} from './lineOrigins.ts'

/** Where the standard says that the note of a commit is. */
export const gitAiRef = 'refs/notes/ai'

const schemaVersion = 'authorship/3.0.0'

/** SHA-256 in hex. */
type Hash = (text: string) => string

/** The note; `null` where no agent wrote any of the lines. Lines of unknown origin are not in it, as the standard wants. */
export function gitAiNoteOf({ commit, files, turns }: CommitOrigins, hash: Hash): string | null {
  const sessions: Record<string, object> = {}
  const attested: string[] = []
  for (const file of files) {
    const entries = entriesOf(file, turns, (turn) => {
      const { key, session } = sessionOf(turn, hash)
      sessions[key] = session
      return `${key}::t_${hash(turn.executionId).slice(0, 14)}`
    })
    if (entries.length > 0) attested.push(quoted(file.path), ...entries)
  }
  if (attested.length === 0) return null
  const metadata = { schema_version: schemaVersion, base_commit_sha: commit, prompts: {}, sessions }
  return `${attested.join('\n')}\n---\n${JSON.stringify(metadata, null, 2)}\n`
}

function entriesOf(
  { path, lines }: AddedFile,
  turns: ReadonlyMap<string, OriginTurn>,
  keyOf: (turn: OriginTurn) => string,
): readonly string[] {
  if (!isWritable(path)) return []
  return linesByTurn(lines).flatMap(([executionId, written]) => {
    const turn = turns.get(executionId ?? '')
    if (turn === undefined || turn.kind === 'command' || turn.agent === null) return []
    return [`  ${keyOf(turn)} ${written.map(rangeOf).join(',')}`]
  })
}

const rangeOf = ({ from, to }: AddedLines): string => (from === to ? `${from}` : `${from}-${to}`)

/** The format has no escapes: a quotation mark or a line break in a name would be read as something else. */
function isWritable(path: string): boolean {
  return !/["\p{Cc}\u2028\u2029]/u.test(path)
}

/** Quotes as well what would be read as the divider or as an entry. */
function quoted(path: string): string {
  return /\s|^---$/.test(path) ? `"${path}"` : path
}

/** A session is the conversation of a task with one agent and model. */
function sessionOf({ taskId, agent, model, taskUrl }: OriginTurn, hash: Hash) {
  const id = model === null ? taskId : `${taskId}/${model}`
  const session = {
    agent_id: { tool: agent, id, model: model ?? 'unknown' },
    ...(taskUrl !== null && { custom_attributes: { url: taskUrl } }),
  }
  return { key: `s_${hash(`${agent}:${id}`).slice(0, 14)}`, session }
}
