/** The origins of the lines that a commit added: which turn of which task wrote them. */
import type { AgentName } from '../agents.ts'

export interface AddedLines {
  /** The number of the first line. Lines are counted from 1, and the line `to` is included. */
  readonly from: number
  readonly to: number
  /** The execution that wrote the lines; `null` when unknown. */
  readonly executionId: string | null
  /** The SHA-256, in hex, of the lines with a line feed after each line. */
  readonly hash: string
}

export interface AddedFile {
  readonly path: string
  /** The added lines, in the order of the file. */
  readonly lines: readonly AddedLines[]
}

/** A turn of an agent, or a command of a person, that wrote lines. */
export interface OriginTurn {
  readonly taskId: string
  readonly executionId: string
  readonly kind: 'turn' | 'command'
  readonly agent: AgentName | null
  /** The model that the agent used; `null` when unknown. */
  readonly model: string | null
  /** The model's provider, by its name on models.dev; `null` when unknown. */
  readonly provider: string | null
  /** The address of the task's page; `null` when the server does not know its own address. */
  readonly taskUrl: string | null
  /** The address of the turn in the task's history; `null` when the server does not know its own address. */
  readonly url: string | null
  /** The address of the task's audit bundle; `null` when the server does not know its own address. */
  readonly proofUrl: string | null
}

export interface CommitOrigins {
  readonly commit: string
  readonly files: readonly AddedFile[]
  readonly turns: ReadonlyMap<string, OriginTurn>
  /** How many changed files are not in `files`, because of limits on files, ranges and time, or because of their names. */
  readonly leftOut: number
}

/** The lines grouped by turn. The turns are in the order of their first lines. */
export function linesByTurn(
  lines: readonly AddedLines[],
): readonly (readonly [executionId: string | null, lines: readonly AddedLines[]])[] {
  const found = new Map<string | null, AddedLines[]>()
  for (const range of lines) {
    const others = found.get(range.executionId)
    if (others) others.push(range)
    else found.set(range.executionId, [range])
  }
  return [...found]
}
