/**
 * Webhook deliveries as on GitHub: signed, in no promised order, each tried once. A delivery that failed is listed and can be sent again under the
 * same GUID.
 */
import { randomUUID } from 'node:crypto'
import { limitConcurrency, serialize } from '#platform/async/queue.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { AppEvent } from '../apps/events.ts'
import { appPayloadOf } from './appPayloads.ts'
import type { GitHubEvent } from '../events.ts'
import { payloadOf, type Telling } from './payloads.ts'
import { completed } from '../completed.ts'
import { isOn } from '../apps/coverage.ts'
import type { App, GitHubState, Installation } from '../state.ts'
import { signatureOf, type Hook } from '../../../../services/codehost/webhookSender.ts'

/** One attempt to deliver. */
export interface Delivery {
  readonly id: number
  readonly guid: string
  readonly appId: number
  readonly hook: Hook
  readonly event: string
  readonly action: string | null
  readonly installationId: number | null
  readonly repositoryId: number | null
  /** The exact bytes that are signed and sent. */
  readonly body: string
  readonly isRedelivery: boolean
  readonly at: string
  /** `null` while the delivery is under way. `statusCode` is 0 when there was no answer. */
  readonly outcome: { readonly statusCode: number; readonly durationMs: number } | null
}

export interface Webhooks {
  /** Sends an event to the Apps that are installed where it happened; returns at once. */
  tell(event: GitHubEvent): void
  /** Sends an App an event about itself; returns at once. */
  tellApp(event: AppEvent): void
  /** Pings the hook of each App. */
  ping(): void
  /** The latest deliveries of one App or of all, newest first. */
  list(appId?: number): readonly Delivery[]
  /** Sends a delivery once more, under the same GUID. `false` when the delivery is not known, or no longer. */
  redeliver(id: number): boolean
  /** Holds deliveries back until `release`, so that tests can simulate a network. */
  hold(): void
  /** Sends the deliveries that were held back, as `arrange` returns them: in another order, twice, or not at all. */
  release(arrange?: (held: readonly Delivery[]) => readonly Delivery[]): Promise<void>
  /** Resolves when no delivery is under way. */
  settled(): Promise<void>
}

/** How long GitHub waits for an answer, in milliseconds. */
const answerWithinMs = 10_000
const atOnce = 16
const mostKept = 5_000
const mostWaiting = 20_000

interface Sender {
  readonly clock: Clock
  readonly log: (line: string) => void
  readonly kept: Delivery[]
  held: Delivery[] | null
  nextId: number
  readonly limited: ReturnType<typeof limitConcurrency>
  readonly underWay: Set<Promise<void>>
}

export function openWebhooks({
  clock,
  log,
  host,
}: {
  readonly clock: Clock
  readonly log: (line: string) => void
  readonly host: () => Telling
}): Webhooks {
  const limited = limitConcurrency(atOnce, (waiting) => {
    if (waiting >= mostWaiting) throw new Error('Too many deliveries wait.')
  })
  const sender: Sender = { clock, log, limited, kept: [], held: null, nextId: 1, underWay: new Set() }
  // Payloads are made in the order of the events.
  const inOrder = serialize()
  const make = (event: GitHubEvent) =>
    inOrder(async () => {
      for (const { app, hook, installation } of listeners(host().github.current(), event)) {
        const { action, payload } = await payloadOf(host(), event, installation.id)
        deliver(sender, {
          appId: app.id,
          hook,
          event: event.kind,
          action,
          installationId: installation.id,
          repositoryId: event.repository.id,
          body: JSON.stringify(completed(payload, host())),
        })
      }
    }).catch((fault: unknown) => log(`a webhook was not sent: ${String(fault)}`))
  return {
    tell: (event) => {
      if (host().github.current().apps.some(hookOf)) track(sender, make(event))
    },
    tellApp: (event) => {
      const about = aboutApp(host(), event)
      if (!about) return
      track(
        sender,
        inOrder(async () => deliver(sender, about)),
      )
    },
    ping: () =>
      host()
        .github.current()
        .apps.flatMap(pingOf)
        .forEach((about) => deliver(sender, about)),
    list: (appId) => sender.kept.filter((one) => appId === undefined || one.appId === appId).toReversed(),
    redeliver: (id) => {
      const known = sender.kept.find((one) => one.id === id)
      if (known) queue(sender, { ...known, id: nextId(sender), isRedelivery: true, outcome: null })
      return known !== undefined
    },
    hold: () => {
      sender.held ??= []
    },
    release: async (arrange = (held) => held) => {
      await inOrder(() => undefined)
      const held = sender.held ?? []
      sender.held = null
      for (const delivery of arrange(held)) queue(sender, delivery)
      await settled(sender)
    },
    settled: async () => {
      await inOrder(() => undefined)
      await settled(sender)
    },
  }
}

type Fresh = Omit<Delivery, 'id' | 'guid' | 'isRedelivery' | 'at' | 'outcome'>

/** The payload of an event about an App, from the current state: after a deletion, there is nothing left to read. */
function aboutApp({ url, store }: Telling, event: AppEvent): Fresh | undefined {
  const hook = hookOf(event.app)
  if (!hook) return undefined
  return {
    appId: event.app.id,
    hook,
    event: event.kind,
    action: event.action,
    installationId: 'installation' in event ? event.installation.id : null,
    repositoryId: null,
    body: JSON.stringify(completed(appPayloadOf(url, store.current().repositories, event), { store })),
  }
}

function pingOf(app: App): readonly Fresh[] {
  const hook = hookOf(app)
  if (!hook) return []
  const body = JSON.stringify({
    zen: 'Keep it logically awesome.',
    hook_id: app.id,
    hook: { type: 'App', id: app.id, app_id: app.id },
  })
  return [
    { appId: app.id, hook, event: 'ping', action: null, installationId: null, repositoryId: null, body },
  ]
}

function nextId(sender: Sender): number {
  sender.nextId += 1
  return sender.nextId - 1
}

function deliver(sender: Sender, about: Fresh): void {
  const at = sender.clock.now().toISOString()
  const fresh = { id: nextId(sender), guid: randomUUID(), isRedelivery: false, outcome: null }
  queue(sender, { ...about, ...fresh, at })
}

/** The hook of an App, if it is active. */
const hookOf = ({ hook }: App): Hook | undefined =>
  hook?.active ? { url: hook.url, secret: hook.secret } : undefined

interface Listener {
  readonly app: App
  readonly hook: Hook
  readonly installation: Installation
}

/** The Apps that have subscribed to this event and are installed on its repository, and not suspended. */
function listeners(
  { apps, installations }: GitHubState,
  { kind, repository }: GitHubEvent,
): readonly Listener[] {
  return installations.flatMap((installation) => {
    const app = apps.find(({ id }) => id === installation.appId)
    const hook = app && hookOf(app)
    const hears = installation.suspended === null && isOn(installation, repository)
    return hook && hears && installation.events.includes(kind) ? [{ app, hook, installation }] : []
  })
}

function queue(sender: Sender, delivery: Delivery): void {
  if (sender.held) return void sender.held.push(delivery)
  track(
    sender,
    sender
      .limited(() => attempt(sender, delivery))
      .catch((fault: unknown) => sender.log(`a webhook was not sent: ${String(fault)}`)),
  )
}

function track(sender: Sender, work: Promise<void>): void {
  const tracked = work.finally(() => sender.underWay.delete(tracked))
  sender.underWay.add(tracked)
}

async function settled(sender: Sender): Promise<void> {
  while (sender.underWay.size > 0) await Promise.all(sender.underWay)
}

async function attempt(sender: Sender, delivery: Delivery): Promise<void> {
  const begun = performance.now()
  const { hook, body, guid, event } = delivery
  const statusCode = await fetch(hook.url, {
    method: 'POST',
    headers: {
      Accept: '*/*',
      'Content-Type': 'application/json',
      'User-Agent': 'GitHub-Hookshot/local',
      'X-GitHub-Delivery': guid,
      'X-GitHub-Event': event,
      'X-GitHub-Hook-ID': String(delivery.appId),
      'X-GitHub-Hook-Installation-Target-ID': String(delivery.appId),
      'X-GitHub-Hook-Installation-Target-Type': 'integration',
      ...(hook.secret === null ? {} : { 'X-Hub-Signature-256': signatureOf(body, hook.secret) }),
    },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(answerWithinMs),
  }).then(
    async (response) => {
      await response.body?.cancel()
      return response.status
    },
    () => 0,
  )
  const durationMs = performance.now() - begun
  sender.kept.push({ ...delivery, outcome: { statusCode, durationMs } })
  if (sender.kept.length > mostKept) sender.kept.splice(0, sender.kept.length - mostKept)
}
