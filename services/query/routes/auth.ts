/** Who is signed in. */
import { getMe, listSessions } from '#domain/api/auth.schema.ts'
import { userOf } from '#domain/views/users.ts'
import { fresh, identified } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { route, type QueryServices } from '../services.ts'

export const authRoutes: readonly Route<QueryServices>[] = [
  route(getMe, fresh, identified, async ({ user }, { accessControl }) => ({
    user: userOf(user),
    isAdmin: await accessControl.isAdmin(user),
  })),
  route(listSessions, fresh, identified, async ({ user: { sessions = [] }, sessionId }, { clock }) => {
    const now = clock.now().getTime()
    const open = sessions.filter(({ expiresAt }) => Date.parse(expiresAt) > now)
    return { sessions: open.map((one) => ({ ...one, current: one.id === sessionId })).toReversed() }
  }),
]
