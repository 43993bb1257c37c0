/** The points to which a task can go back: the end of each turn and command with its snapshot, and each undo. */
import type { AgentName } from '../agents.ts'
import type { BlobRef } from '../kernel/ids.schema.ts'
import type { ExecutionKind } from './events.ts'

/** The files of a workspace and the agent's session at one moment. */
export interface Snapshot {
  /** The commit that contains the files. */
  readonly work: string
  readonly bundle: BlobRef
  readonly session: {
    readonly agent: AgentName
    /** The id of the agent's session that belongs to the files; `null` when unknown. */
    readonly sessionId: string | null
    readonly blob: BlobRef
  } | null
}

export interface RestorePoint {
  /** The id of the turn, command or undo that led to this point. */
  readonly executionId: string
  readonly kind: ExecutionKind | 'undo'
  /** The index of the point at which the task was before it came to this point; `null` for the beginning of the task. */
  readonly before: number | null
  /** The snapshot; `null` for an undo, for a turn or command that has not ended, and when no snapshot could be taken. */
  readonly snapshot: Snapshot | null
}

/** All points in the order of the log. `at` is the index of the point at which the task is; `null` at the beginning of the task. */
export interface RestorePoints {
  readonly points: readonly RestorePoint[]
  readonly at: number | null
}

export const noPoints: RestorePoints = { points: [], at: null }

/** Adds the point for a turn or command that has started. */
export function started(
  { points, at }: RestorePoints,
  { executionId, kind }: Pick<RestorePoint, 'executionId' | 'kind'>,
): RestorePoints {
  // Another attempt of the same execution adds no point.
  if (points.at(-1)?.executionId === executionId) return { points, at }
  return {
    points: [...points, { executionId, kind, before: at, snapshot: null }],
    at: points.length,
  }
}

export function withSnapshot(
  { points, at }: RestorePoints,
  executionId: string,
  snapshot: Snapshot,
): RestorePoints {
  const index = indexOf(points, executionId)
  const point = points[index]
  return point ? { points: points.with(index, { ...point, snapshot }), at } : { points, at }
}

/** Adds the point for an undo, and moves the task back to the point before `executionId`. */
export function wentBack(
  { points, at }: RestorePoints,
  { undoId, executionId }: { readonly undoId: string; readonly executionId: string },
): RestorePoints {
  const undo: RestorePoint = { executionId: undoId, kind: 'undo', before: at, snapshot: null }
  return { points: [...points, undo], at: pointOf(points, executionId)?.before ?? null }
}

export function pointOf(points: RestorePoints['points'], executionId: string): RestorePoint | undefined {
  return points[indexOf(points, executionId)]
}

/** The turns and commands that count when the task is at the point `at`, latest first: all that are not undone. */
export function countingAt(points: RestorePoints['points'], at: number | null): readonly RestorePoint[] {
  const counting: RestorePoint[] = []
  for (let index = at; index !== null;) {
    const point: RestorePoint | undefined = points[index]
    if (!point) break
    counting.push(point)
    index = point.before
  }
  return counting
}

function indexOf(points: RestorePoints['points'], executionId: string): number {
  return points.findLastIndex((point) => point.executionId === executionId)
}
