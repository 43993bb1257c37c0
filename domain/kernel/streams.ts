/** The names of the log's streams: making a name, parsing it, and the scope of the key for the stream. */

export const userStream = (userId: string): string => `user-${userId}`
export const projectStream = (projectId: string): string => `project-${projectId}`
/** All events of a task, except those of its terminal. */
export const taskStream = (taskId: string): string => `task-${taskId}`
/** The output of a task's agent, commands and shells, and text that is being written. */
export const terminalStream = (taskId: string): string => `terminal-${taskId}`
/** The events of one request to create a repository at the code host, which clients may repeat. */
export const requestStream = (commandId: string): string => `request-${commandId}`
/** Users' claims to an account at the code host. `id` becomes the user id of the first person who signs up with the account. */
export const identityStream = (id: string): string => `identity-${id}`
export const imageStream = (imageId: string): string => `image-${imageId}`
/** A person's usage on a day in UTC, such as `2026-01-31`. */
export const usageStream = (userId: string, day: string): string => `usage-${userId}-${day}`
/** The audit events of a day in UTC, such as refused sign-ins and exports. */
export const auditStream = (day: string): string => `audit-${day}`
/** The webhooks that the code host delivered on a day in UTC. */
export const deliveryStream = (day: string): string => `delivery-${day}`

export const logStream = 'log-main'
/** The seals over the whole log that were made in an epoch. */
export const sealStream = (epoch: number): string => `seal-${epoch}`

const kinds = [
  'log',
  'user',
  'project',
  'task',
  'terminal',
  'request',
  'identity',
  'image',
  'usage',
  'audit',
  'delivery',
  'seal',
] as const

export const streamPrefixes: readonly string[] = kinds.map((kind) => `${kind}-`)

/** The kind of a stream. The name of a stream begins with its kind. */
export type StreamKind = (typeof kinds)[number]

export type StreamName = { readonly kind: StreamKind; readonly id: string } | { readonly kind: 'other' }

export function parseStream(stream: string): StreamName {
  const cut = stream.indexOf('-')
  const before = stream.slice(0, Math.max(cut, 0))
  const kind = kinds.find((known) => known === before)
  return kind === undefined ? { kind: 'other' } : { kind, id: stream.slice(cut + 1) }
}

/**
 * The vault scope under whose key a stream's content is encrypted. A task's terminal shares the key of the task, so that destroying one key erases
 * everything that was ever written in the task.
 */
export function scopeOfStream(stream: string): string {
  const name = parseStream(stream)
  if (name.kind === 'other') return `stream:${stream}`
  return `${name.kind === 'terminal' ? 'task' : name.kind}:${name.id}`
}
