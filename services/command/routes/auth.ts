/** Writes about the person who is signed in. */
import {
  completeOnboarding,
  deleteAccount,
  disconnectGitHub,
  logout,
  updateProfile,
} from '#domain/api/auth.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { userStream } from '#domain/kernel/ids.ts'
import { user as userDecider, type UserCommand } from '#domain/user/user.ts'
import { userOf, usersView } from '#domain/views/users.ts'
import { identified, signedIn, type Person } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { route, written, type CommandServices } from '../services.ts'

export const authRoutes: readonly Route<CommandServices>[] = [
  route(updateProfile, identified, async ({ body, ...asked }, services) => {
    const fullName = body.fullName ?? body.name ?? asked.user.fullName
    const email = body.email === undefined ? asked.user.email : body.email
    return executeOnUser({ type: 'UpdateProfile', fullName, email }, asked, services)
  }),
  route(completeOnboarding, identified, async ({ body, ...asked }, services) => {
    const { fullName, companySize, role } = body
    const email = body.email === undefined || body.email === '' ? null : body.email
    return executeOnUser({ type: 'CompleteOnboarding', fullName, email, companySize, role }, asked, services)
  }),
  route(disconnectGitHub, signedIn, async (asked, services) => {
    // The grant ends before the fact is recorded: a fault at the host leaves the person connected, and able to try again.
    await services.access.end(asked.user.id)
    return { success: true as const, ...(await executeOnUser({ type: 'DisconnectGitHub' }, asked, services)) }
  }),
  route(deleteAccount, identified, async ({ user, actor, commandId }, services) => {
    const stream = userStream(user.id)
    const command = { type: 'DeleteAccount' } as const
    const { position } = await services.commands.execute(userDecider, stream, command, { actor, commandId })
    return { success: true as const, ...(await written(position, services)) }
  }),
  route(logout, identified, async (asked, services) => {
    const { position, stale } = await executeOnUser(
      { type: 'SignOut', sessionId: asked.sessionId },
      asked,
      services,
    )
    return { success: true as const, ...(position && { position }), ...(stale && { stale }) }
  }),
]

async function executeOnUser(
  command: UserCommand,
  { user, actor, commandId }: Person & { readonly commandId: string },
  services: CommandServices,
) {
  const stream = userStream(user.id)
  const executed = await services.commands.execute(userDecider, stream, command, { actor, commandId })
  const placed = await written(executed.position, services)
  const document = await services.documents.asOf(usersView, stream, user.id, executed.head)
  if (!document) throw new Fault('not_found')
  return { user: userOf(document), ...placed }
}
