/** The points to which a task can go back: the end of each turn and command, and each undo, with its snapshot. */
import type { AgentName } from '../agents.ts'
import type { BlobRef } from '../kernel/ids.schema.ts'
import type { ExecutionKind } from './events.ts'

/** The files and the agent's session at one moment. */
export interface Snapshot {
  /** The commit that contains the files. */
  readonly work: string
  readonly bundle: BlobRef
  readonly session: {
    readonly agent: AgentName
    /** `null` when it is not known which of the saved sessions belongs to the files. */
    readonly sessionId: string | null
    readonly blob: BlobRef
  } | null
}

export interface RestorePoint {
  /** The turn, command or undo that led to this point. */
  readonly executionId: string
  readonly kind: ExecutionKind | 'undo'
  /** The index of the point at which the task was before this one; `null` for the beginning. */
  readonly before: number | null
  /** The snapshot; `null` for an undo, for a turn or command that has not ended, and when no snapshot could be taken. */
  readonly snapshot: Snapshot | null
}

/** All points in log order, and the index of the current point: `null` at the beginning. An undo only changes `at`. */
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
  // A retry of the same execution adds no point.
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

/** Adds the point for an undo: the task is back in the state before `executionId`. */
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

/** The turns and commands that are not undone at a point, latest first. */
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
