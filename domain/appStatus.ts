/** The status of the server's GitHub App: its permissions and events, and the effects of webhook deliveries. */
import {
  missingPermissions,
  neededPermissions,
  optionalPermissions,
  wantedEvents,
  type AppPermissions,
  type PermissionLevel,
} from './appPermissions.ts'
import { deliveredEvents } from './webhookDelivery.ts'
import type { DeliveryEffect } from './api/github.ts'
import type { PermissionRow } from './api/github.schema.ts'

interface NamedPermission {
  readonly name: string
  readonly level: PermissionLevel
}

/** Permissions as a list, sorted by name. */
export const namedPermissions = (permissions: AppPermissions): NamedPermission[] =>
  Object.entries(permissions)
    .map(([name, level]) => ({ name, level }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** The permissions that our App needs and that `granted` lacks. */
export const missingAppPermissions = (granted: AppPermissions): NamedPermission[] =>
  missingPermissions(neededPermissions, granted).map(([name, level]) => ({ name, level }))

/** All permissions for display: first the permissions that we need, then the optional permissions, then further permissions that the App has. */
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

export const missingAppEvents = (subscribed: readonly string[]): string[] =>
  Object.keys(wantedEvents).filter((event) => !subscribed.includes(event))

/** One attempt to deliver a webhook, as the code host lists it. */
export interface Attempt {
  readonly guid: string
  readonly event: string
  readonly succeeded: boolean
}

/**
 * The effect of each attempt. `attempts` and the result are sorted newest first, as the code host lists attempts. Of all attempts with the same GUID,
 * only the oldest takes effect, and the others are repeats. If an attempt failed but its GUID is in the log, Flightdeck fetched the delivery later.
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
