/**
 * `POST /webhooks/github`: accepts deliveries of the code host that are signed with one of our secrets, and answers when they are in the log.
 * Everything else is done by readers of the log.
 */
import { Webhooks } from '@octokit/webhooks'
import type { Middleware } from 'koa'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { z } from 'zod'
import { webhookPath } from '#domain/api/server.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Bodies } from '#platform/http/bodies.ts'
import { networkOf } from '#platform/http/clientNetwork.ts'
import type { Bus } from '#platform/ports/bus.ts'
import { rate } from '../http/limits.ts'
import { hintOf, deliveryRecorder, type RecordingDeps } from './recordDelivery.ts'

/** The size limit of GitHub's deliveries. */
export const maxWebhookBytes = 25 * 1_024 * 1_024
/** The maximum number of requests per minute from one address. A burst of 10,000 deliveries must pass, wherever it comes from. */
const requestsAMinute = 30_000
/**
 * The maximum number of bytes per minute from one address in requests with a wrong signature. Beyond that, only large bodies are refused, because the
 * address may be a proxy through which real deliveries come too.
 */
const forgedBytesAMinute = 64 * 1_024 * 1_024
const smallBytes = 256 * 1_024

const Guid = z.uuid()
const EventName = z.string().regex(/^[a-z0-9_]{1,64}$/)

/**
 * Handles deliveries. While the secret is being replaced, both secrets are valid until the code host has the new one. Without any secret, the answer
 * is 404.
 */
export function githubWebhooks(
  secrets: () => Promise<readonly string[]>,
  deps: RecordingDeps & { readonly bus: Pick<Bus, 'publish'>; readonly bodies: Pick<Bodies, 'read'> },
): Middleware {
  const verifiersOf = verifiersBySecret()
  const record = deliveryRecorder(deps)
  const allowed = rate(requestsAMinute)
  const forged = new RateLimiterMemory({ points: forgedBytesAMinute, duration: 60 })
  return async (context, next) => {
    if (context.path !== webhookPath) return next()
    const verifiers = verifiersOf(await secrets())
    if (verifiers.length === 0 || context.method !== 'POST')
      throw new Fault('not_found', 'There is no such address.')
    const sender = networkOf(context.ip)
    await allowed(sender)
    const isSuspect = ((await forged.get(sender))?.remainingPoints ?? 1) <= 0
    if (!context.is('json')) throw new Fault('unsupported_type')
    const guid = Guid.safeParse(context.get('x-github-delivery'))
    const name = EventName.safeParse(context.get('x-github-event'))
    if (!guid.success || !name.success)
      throw new Fault('invalid_input', 'X-GitHub-Delivery and X-GitHub-Event are missing or not valid.')
    const isTooLarge = (context.request.length ?? Infinity) > smallBytes
    if (isSuspect && isTooLarge) throw new Fault('rate_limited')
    // The signature covers the body as it was sent, so it is checked before the body is parsed.
    const body = (await deps.bodies.read(context, maxWebhookBytes)).toString('utf8')
    if (!(await isSigned(verifiers, body, context.get('x-hub-signature-256')))) {
      await forged.penalty(sender, Buffer.byteLength(body))
      throw new Fault('forbidden', 'The signature does not match.')
    }
    const hint = hintOf(guid.data.toLowerCase(), name.data, parsed(body))
    if (hint !== null) await record(hint)
    if (hint !== null && ofInstallations.has(hint.data.event))
      deps.bus.publish('installations', { changed: true })
    context.status = 202
    context.body = { received: true }
    return undefined
  }
}

const ofInstallations: ReadonlySet<string> = new Set(['installation', 'installation_repositories'])

/** Returns the verifiers for the given secrets, and reuses those of the last call. */
function verifiersBySecret(): (secrets: readonly string[]) => readonly Webhooks[] {
  let made = new Map<string, Webhooks>()
  return (secrets) => {
    made = new Map(secrets.map((secret) => [secret, made.get(secret) ?? new Webhooks({ secret })]))
    return [...made.values()]
  }
}

async function isSigned(verifiers: readonly Webhooks[], body: string, signature: string): Promise<boolean> {
  if (body === '' || signature === '') return false
  for (const verifier of verifiers) if (await verifier.verify(body, signature)) return true
  return false
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw new Fault('invalid_input', 'The body is not valid JSON.')
  }
}
