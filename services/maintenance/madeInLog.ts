/**
 * Lists from the log every task that was ever created, and every request that created a repository. After a deletion, nothing else leads from a
 * person or a project to their tasks and requests. Keeps only ids, and reads only new events in later calls.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import { intact, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import { serialize } from '#platform/async/queue.ts'

/** A created task, or a request that created a repository. */
export type Made =
  | {
      readonly kind: 'task'
      readonly stream: string
      readonly taskId: string
      readonly ownerId: string
      readonly projectId: string
    }
  | { readonly kind: 'request'; readonly stream: string; readonly ownerId: string }

/** Returns all created tasks and requests, the oldest first. */
export type MadeInLog = () => Promise<readonly Made[]>

const readBatch = 250

export function madeInLog({ eventStore }: { readonly eventStore: Pick<EventStore, 'readAll'> }): MadeInLog {
  const made: Made[] = []
  let after: Position | null = null
  const serialized = serialize()

  async function readOn(): Promise<void> {
    for (;;) {
      const begun = performance.now()
      const events: readonly LogRecord[] = await eventStore.readAll(after, readBatch)
      for (const event of intact(events)) made.push(...madeBy(event))
      after = events.at(-1)?.position ?? after
      if (events.length < readBatch) return
      // Pauses as long as the reading took, since it blocks the thread that also serves requests.
      await pause(performance.now() - begun)
    }
  }

  return () =>
    serialized(async () => {
      await readOn()
      return [...made]
    })
}

const CreatedTask = z.object({ taskId: z.string(), ownerId: z.string(), projectId: z.string() })

function madeBy({ type, stream, data, meta }: StoredEvent): readonly Made[] {
  const { actor } = meta
  if (type === 'RepositoryMade' && actor.kind === 'user')
    return [{ kind: 'request', stream, ownerId: actor.userId }]
  if (type !== 'TaskCreated') return []
  const { success, data: created } = CreatedTask.safeParse(data)
  return success ? [{ kind: 'task', stream, ...created }] : []
}
