/** Stores the App that was created at `/setup`, and records its creation in the audit log. */
import { randomUUID } from 'node:crypto'
import { CodeHostAppRegistered } from '#domain/audit.ts'
import { recordAudit, type AuditServices } from '#platform/access/auditLog.ts'
import type { HostApp } from '#platform/credentials/hostApp.ts'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import type { Leases } from '#platform/ports/leases.ts'
import { alone } from '#platform/async/alone.ts'

/** Records the creation. `by` is the administrator's id; `null` for somebody with the printed code, and when unknown. Throws if recording fails. */
async function recordRegistered(
  services: AuditServices,
  { webhookSecret }: Pick<AppRegistration, 'webhookSecret'>,
  by: string | null,
): Promise<void> {
  const actor =
    by === null ? ({ kind: 'system', service: 'setup' } as const) : ({ kind: 'user', userId: by } as const)
  const registered = CodeHostAppRegistered.of({ hasWebhook: webhookSecret !== null })
  await recordAudit(services, registered, { commandId: randomUUID(), actor })
}

const recording = 'record of the code host app'

/**
 * Stores the new App and records its creation. Does both under a lease, so that `recordUnrecordedApp` in another process does not record it too.
 * Returns `false` when there already is an App.
 */
export async function registerApp(
  services: AuditServices & {
    readonly hostApp: Pick<HostApp, 'keep'>
    readonly leases: Pick<Leases, 'hold'>
  },
  app: AppRegistration,
  by: string | null,
): Promise<boolean> {
  return alone(services.leases, recording, async () => {
    const isKept = await services.hostApp.keep(app)
    if (isKept) await recordRegistered(services, app, by)
    return isKept
  })
}

interface StartServices extends AuditServices {
  readonly hostApp: Pick<HostApp, 'current'>
  readonly eventStore: Pick<EventStore, 'readAll'>
  readonly leases: Pick<Leases, 'hold'>
}

/**
 * Records the App if it is stored but not recorded, because the process that created it ended in between. Called at each start of a server whose App
 * is created at `/setup`. Throws when the App cannot be recorded.
 */
export async function recordUnrecordedApp(services: StartServices): Promise<void> {
  const app = await services.hostApp.current()
  if (app === undefined) return
  await alone(services.leases, recording, async () => {
    const registrations = { streams: ['audit-'], types: [CodeHostAppRegistered.type] }
    const [recorded] = await services.eventStore.readAll(null, 1, registrations)
    if (recorded === undefined) await recordRegistered(services, app, null)
  })
}
