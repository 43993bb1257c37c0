/**
 * Decides who may see a preview. A person gets a ticket, which opens the preview once and within a minute. The ticket is exchanged for a pass in a
 * cookie of the preview's own host name. Ticket and pass name the person, their session, the task, the port and the sandbox, and each request checks
 * all of these again.
 */
import { z } from 'zod'
import { TaskId } from '#domain/kernel/ids.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Identity } from '#platform/http/session.ts'
import type { RunningSandbox, SandboxPorts } from '#platform/ports/listeningPorts.ts'
import { signedClaims } from '../auth/signedClaims.ts'
import type { GatewayServices } from '../services.ts'
import type { PreviewPlace } from './previewNames.ts'

export interface PreviewPass extends Identity, PreviewPlace {
  readonly sandboxId: string
}

export interface PreviewPasses {
  ticketFor(pass: PreviewPass): Promise<string>
  /** Exchanges a ticket for a pass, only once. `undefined` when the ticket is forged, expired, used, or for another place. */
  redeem(ticket: string, place: PreviewPlace): Promise<PreviewPass | undefined>
  /** The value of the cookie that holds the pass. */
  cookieOf(pass: PreviewPass): Promise<string>
  /** The pass for this place, if one of the cookies holds it. */
  read(cookies: readonly string[], place: PreviewPlace): Promise<PreviewPass | undefined>
  /**
   * The sandbox that the pass is for. Throws a `Fault` when the session is over, when the person may no longer see the task or use this server or
   * this cannot be checked, and when the sandbox has ended.
   */
  admit(pass: PreviewPass): Promise<RunningSandbox>
}

const ticketSeconds = 60
export const passSeconds = 12 * 3_600
/** The maximum number of cookies with the pass's name that are read. */
const mostCookies = 4

const Claims = z.object({
  userId: z.string(),
  sessionId: z.string(),
  taskId: TaskId,
  port: z.int(),
  sandboxId: z.string(),
})
const Ticket = Claims.extend({ jti: z.uuid() })

export function previewPasses(
  services: Pick<GatewayServices, 'vault' | 'clock' | 'ids' | 'recentKeys' | 'documents' | 'accessControl'>,
  sandboxes: SandboxPorts,
): PreviewPasses {
  const { ids, clock, recentKeys, documents, accessControl } = services
  // The keys differ, so that a cookie is never accepted as a ticket, nor a ticket as a cookie.
  const tickets = signedClaims(services, 'preview-ticket', ticketSeconds)
  const passes = signedClaims(services, 'preview-pass', passSeconds)
  return {
    ticketFor: (pass) => tickets.sign({ ...pass, jti: ids.uuid() }),
    async redeem(ticket, place) {
      const claims = await tickets.read(ticket, Ticket)
      if (claims === undefined || !isOf(claims, place)) return undefined
      const { jti, ...pass } = claims
      // Only the first use of a ticket is accepted. Uses are remembered for longer than a ticket is valid.
      const { again } = await recentKeys.remember({ id: jti, person: pass.userId }, 'preview')
      return again ? undefined : pass
    },
    cookieOf: (pass) => passes.sign({ ...pass }),
    async read(cookies, place) {
      for (const cookie of cookies.slice(0, mostCookies)) {
        const pass = await passes.read(cookie, Claims)
        if (pass !== undefined && isOf(pass, place)) return pass
      }
      return undefined
    },
    async admit({ userId, sessionId, taskId, sandboxId }) {
      const { user } = await signedIn({ identity: { userId, sessionId } }, services)
      const now = clock.now().toISOString()
      if (!user.sessions.some(({ id, expiresAt }) => id === sessionId && expiresAt > now))
        throw new Fault('sign_in_required')
      await accessControl.check(user.id)
      if ((await documents.get(tasksView, taskId))?.owner !== user.id)
        throw new Fault('not_found', 'There is no such task.')
      const sandbox = sandboxes.of(taskId).find(({ id }) => id === sandboxId)
      if (sandbox === undefined) throw sandboxEnded()
      return sandbox
    },
  }
}

export const sandboxEnded = () =>
  new Fault(
    'not_running',
    'The sandbox of this task has ended. Send a message to the task to start it again.',
  )

const isOf = (claims: PreviewPlace, { taskId, port }: PreviewPlace): boolean =>
  claims.taskId === taskId && claims.port === port
