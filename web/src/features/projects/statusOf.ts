/** How a project stands, as the screens know it. */
import type { Project } from '#domain/api/projects.schema.ts'

const statuses: readonly Project['status'][] = ['active', 'syncing', 'error', 'inactive']

/** A status that is not known here is shown as inactive (section 4). */
export function statusOf(said: string): Project['status'] {
  return statuses.find((status) => status === said) ?? 'inactive'
}
