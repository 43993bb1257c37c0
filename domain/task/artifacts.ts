/** The artifacts of a task as state: what the next one is compared with and counted against. */
import type { EventOf } from '../kernel/event.schema.ts'
import type { RecordedOf } from '../kernel/event.ts'
import type { ArtifactKept } from './artifactEvents.ts'

export interface TaskArtifacts {
  readonly count: number
  readonly bytes: number
  /** The digest of the newest file of each name. */
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
