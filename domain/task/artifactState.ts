/** The artifacts in the state of a task: their number and size, to apply limits, and their digests, to detect changes. */
import type { EventOf } from '../kernel/event.schema.ts'
import type { RecordedOf } from '../kernel/event.ts'
import type { ArtifactKept } from './artifactEvents.ts'

export interface TaskArtifacts {
  readonly count: number
  readonly bytes: number
  /** By name, the digest of the newest file with this name. */
  readonly digests: ReadonlyMap<string, string>
}

export const noArtifacts: TaskArtifacts = { count: 0, bytes: 0, digests: new Map() }

export function withArtifact(
  { count, bytes, digests }: TaskArtifacts,
  { data: { blob }, content }: RecordedOf<EventOf<typeof ArtifactKept>>,
): TaskArtifacts {
  const named = content === null ? digests : new Map([...digests, [content.name, content.digest]])
  return { count: count + 1, bytes: bytes + blob.size, digests: named }
}
