/**
 * The audit log: one document per entry. Most entries are folded from the streams of people, projects and tasks, so that no action lacks its entry.
 * The others come from the streams `audit` and `log`. A document has only ids, enums, numbers and times, and no content.
 */
import { auditActions as actions } from '../api/admin.ts'
import type { AuditEntry } from '../api/admin.schema.ts'
import { sortKey } from '../kernel/event.ts'
import { parseStream } from '../kernel/streams.ts'
import type { AnyRecorded, View, ViewDocument } from './view.ts'

export interface AuditDocument extends Omit<AuditEntry, 'person' | 'secret'>, Omit<ViewDocument, 'id'> {
  /** The id of the person who acted; `null` for a service, and for a refused sign-in of somebody without an account. */
  readonly person: string | null
  readonly stream: string
  /** The time and the position as a text by which entries are sorted. */
  readonly order: string
}

type Audited = Extract<AnyRecorded, { type: keyof typeof actions }>
const types = Object.keys(actions) as (keyof typeof actions)[]

/** The actions whose event has the name of a secret in its content. */
export const namingSecrets: readonly AuditEntry['action'][] = ['secret_set', 'secret_removed']

export const auditLogView: View<AuditDocument> = {
  collection: 'auditLog',
  version: 2,
  streams: ['log', 'user', 'project', 'task', 'audit'],
  types,
  indexes: [['order'], ['person', 'order'], ['task', 'order']],
  touches: (event) => (isAudited(event) ? [entryId(event)] : []),
  evolve: (entry, event, id) => {
    if (!isAudited(event)) return entry
    // All sessions that one command ended share one entry.
    if (entry !== undefined) return { ...entry, count: entry.count + 1, version: event.revision }
    return entryOf(event, id)
  },
}

function isAudited(event: AnyRecorded): event is Audited {
  return event.type in actions
}

function entryId({ type, stream, revision, meta }: Audited): string {
  return type === 'SessionEnded' ? `${stream}:${meta.commandId}` : `${stream}@${revision}`
}

function entryOf(event: Audited, id: string): AuditDocument {
  const { stream, revision, at, position, meta } = event
  const name = parseStream(stream)
  return {
    id,
    at,
    action: actions[event.type],
    person: meta.actor.kind === 'user' ? meta.actor.userId : null,
    service: meta.actor.kind === 'system' ? meta.actor.service : null,
    task: name.kind === 'task' ? name.id : null,
    project: name.kind === 'project' ? name.id : null,
    count: 1,
    method: null,
    code: null,
    records: null,
    asked: null,
    stream,
    order: auditOrder(at, position),
    position,
    version: revision,
    ...factsOf(event),
  }
}

function factsOf(event: Audited): Partial<AuditDocument> {
  switch (event.type) {
    case 'TaskCreated':
      return { project: event.data.projectId }
    case 'SignInRefused': {
      const { method, code, userId } = event.data
      return { method, code, person: userId, service: null }
    }
    case 'RecordsRead':
    case 'RecordsExported': {
      const { records, personId, taskId, from, to } = event.data
      return { records, task: taskId, asked: { person: personId, from, to } }
    }
    default:
      return {}
  }
}

/** The `order` of an entry with this time and position. Without a position, the result comes before all entries with this time. */
export function auditOrder(at: string, position?: string): string {
  return position === undefined ? at : `${at}_${sortKey(position)}`
}
