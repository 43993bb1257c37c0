/** The owners of tasks, for events that do not name them. Owners are cached, because an owner never changes. */
import { LRUCache } from 'lru-cache'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { parseStream, taskStream } from '#domain/kernel/streams.ts'
import { TaskCreated } from '#domain/task/events.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { atMost } from '#platform/atMost.ts'
import { orElse } from '#platform/async/orElse.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import { NotFolded } from '#platform/ports/faults.ts'

export interface Owners {
  /** Finds out the owners of the events' tasks, from the tasks' first events or in one read for all these tasks. */
  learn(events: readonly StoredEvent[]): Promise<void>
  /** The owner; `null` when it cannot be read, `undefined` when it was not read yet. */
  known(taskId: string): string | null | undefined
  read(taskId: string): Promise<string | null>
}

/** The number of tasks whose owners are cached, which is more than are active at once. They take some 10 MB. */
const remembered = 50_000

export function ownersOfTasks(documents: Pick<Documents, 'getMany'>, log: Pick<EventLog, 'read'>): Owners {
  const owners = new LRUCache<string, { readonly owner: string | null }>(atMost(remembered))

  /** Reads the owner from the beginning of the task's stream, since the read models may not have the task yet. */
  async function read(taskId: string): Promise<string | null> {
    const [first] = await log.read(taskStream(taskId), 0, 1).catch(orElse(UnreadableEvent, []))
    const owner = first?.type === 'TaskCreated' ? first.data.ownerId : null
    owners.set(taskId, { owner })
    return owner
  }

  return {
    async learn(events) {
      const unknown = new Set<string>()
      for (const { stream, type, data } of events) {
        const { id } = { id: '', ...parseStream(stream) }
        const created = type === 'TaskCreated' ? TaskCreated.data.safeParse(data).data : undefined
        if (created) owners.set(id, { owner: created.ownerId })
        else if (!owners.has(id)) unknown.add(id)
      }
      if (unknown.size === 0) return
      const found = await documents
        .getMany(tasksView, [...unknown])
        .catch(orElse(NotFolded, new Map<string, never>()))
      for (const [id, { owner }] of found) owners.set(id, { owner })
      await Promise.all([...unknown].filter((id) => !found.has(id)).map(read))
    },
    known: (taskId) => owners.get(taskId)?.owner,
    read,
  }
}
