/** The routes that change the signed-in person's account: profile, onboarding, connection to the code host, sessions, and deletion. */
import {
  completeOnboarding,
  deleteAccount,
  disconnectGitHub,
  endSession,
  endSessions,
  logout,
  updateProfile,
} from '#domain/api/auth.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { user as userDecider, type UserCommand } from '#domain/user/user.ts'
import { userOf, usersView } from '#domain/views/users.ts'
import { identified, signedIn, type Person } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { emailOf } from '../checks/emailAddress.ts'
import { route, written, type CommandServices } from '../services.ts'

export const authRoutes: readonly Route<CommandServices>[] = [
  route(updateProfile, identified, async ({ body, ...request }, services) => {
    const { name, fullName, email } = body
    const checked = email === undefined ? undefined : emailOf(email, request.user.email)
    return executeOnUser({ type: 'UpdateProfile', name, fullName, email: checked }, request, services)
  }),
  route(completeOnboarding, identified, async ({ body, ...request }, services) => {
    const { fullName, companySize, role } = body
    const email = request.user.email ?? emailOf(body.email ?? null, null)
    return executeOnUser(
      { type: 'CompleteOnboarding', fullName, email, companySize, role },
      request,
      services,
    )
  }),
  route(disconnectGitHub, signedIn, async (request, services) => {
    const { id } = request.user
    // The grant at the code host is ended first, and then the event is recorded. If the code host fails, the person can try again. A repeated request
    // must not end a grant that the person has given since then.
    if (!(await services.commands.hasTakenEffect(userDecider, userStream(id), request.commandId)))
      await services.access.end(id)
    return {
      success: true as const,
      ...(await executeOnUser({ type: 'DisconnectGitHub' }, request, services)),
    }
  }),
  route(deleteAccount, identified, async ({ user, actor, commandId }, services) => {
    const command = { type: 'DeleteAccount' } as const
    const { position } = await executeFor(command, { user, actor, commandId }, services)
    return { success: true as const, ...(await written(position, services)) }
  }),
  route(logout, identified, async (request, services) => {
    const { position, stale } = await executeOnUser(
      { type: 'SignOut', sessionId: request.sessionId },
      request,
      services,
    )
    return { success: true as const, ...(position && { position }), ...(stale && { stale }) }
  }),
  route(endSession, identified, async ({ params: { sessionId }, ...request }, services) => {
    const { events, position, repeated } = await executeFor({ type: 'SignOut', sessionId }, request, services)
    if (events.length === 0 && !repeated) throw new Fault('not_found', 'There is no such session.')
    return { success: true as const, ...(await written(position, services)) }
  }),
  route(endSessions, identified, async (request, services) => {
    const { position } = await executeFor({ type: 'SignOutEverywhere' }, request, services)
    return { success: true as const, ...(await written(position, services)) }
  }),
]

type Asker = Person & { readonly commandId: string }

function executeFor(
  command: UserCommand,
  { user, actor, commandId }: Pick<Asker, 'user' | 'actor' | 'commandId'>,
  { commands }: CommandServices,
) {
  return commands.execute(userDecider, userStream(user.id), command, { actor, commandId })
}

async function executeOnUser(command: UserCommand, request: Asker, services: CommandServices) {
  const executed = await executeFor(command, request, services)
  const placed = await written(executed.position, services)
  const { id } = request.user
  const document = await services.documents.asOf(usersView, userStream(id), id, executed.head)
  if (!document) throw new Fault('not_found')
  return { user: userOf(document), ...placed }
}
