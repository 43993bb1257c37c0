/** How the App of this server stands at the code host: what it lacks, what became of deliveries, which repositories it reaches. */
import {
  missingPermissions,
  neededPermissions,
  optionalPermissions,
  wantedEvents,
  type AppPermissions,
  type PermissionLevel,
} from './appPermissions.ts'
import { deliveredEvents } from './delivery.ts'
import type { DeliveryEffect } from './api/github.ts'

interface NamedPermission {
  readonly name: string
  readonly level: PermissionLevel
}

export interface PermissionRow {
  readonly name: string
  readonly wanted: PermissionLevel | null
  readonly isOptional: boolean
  readonly app: PermissionLevel | null
}

/** Permissions in the order of their names. */
export const namedPermissions = (permissions: AppPermissions): NamedPermission[] =>
  Object.entries(permissions)
    .map(([name, level]) => ({ name, level }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** What every App of ours needs, and these permissions lack. */
export const lacking = (granted: AppPermissions): NamedPermission[] =>
  missingPermissions(neededPermissions, granted).map(([name, level]) => ({ name, level }))

/** What is wanted beside what the App asks for: the needed ones first, then the optional ones, then what nothing here needs. */
export function permissionRows(app: AppPermissions): PermissionRow[] {
  const asked = (name: string): PermissionLevel | null => app[name] ?? (name === 'metadata' ? 'read' : null)
  const wanted = { ...neededPermissions, ...optionalPermissions }
  const known = Object.entries(wanted).map(([name, level]) => ({
    name,
    wanted: level,
    isOptional: !Object.hasOwn(neededPermissions, name),
    app: asked(name),
  }))
  const extra = namedPermissions(app).filter(({ name }) => !Object.hasOwn(wanted, name))
  return [...known, ...extra.map(({ name, level }) => ({ name, wanted: null, isOptional: true, app: level }))]
}

/** Wanted events that the App has not subscribed to. */
export const lackingEvents = (subscribed: readonly string[]): string[] =>
  Object.keys(wantedEvents).filter((event) => !subscribed.includes(event))

/** What is known of an attempt to deliver. */
export interface Attempt {
  readonly guid: string
  readonly event: string
  readonly succeeded: boolean
}

/**
 * What became of each attempt, in the order in which the code host lists them: newest first. A GUID has one effect, which is that of its
 * oldest attempt, and all others repeat it. What failed and is in the log was fetched later.
 */
export function deliveryEffects(
  attempts: readonly Attempt[],
  isRecorded: (guid: string) => boolean,
): DeliveryEffect[] {
  const earlier = new Set<string>()
  const effectOf = ({ guid, event, succeeded }: Attempt): DeliveryEffect => {
    if (!deliveredEvents.some((known) => known === event)) return succeeded ? 'ignored' : 'failed'
    if (!isRecorded(guid)) return succeeded ? 'unknown' : 'failed'
    const isRepeated = earlier.has(guid)
    earlier.add(guid)
    return isRepeated ? 'repeated' : 'handled'
  }
  return attempts.toReversed().map(effectOf).toReversed()
}
