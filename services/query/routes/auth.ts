/** Who is signed in. */
import { getMe } from '#domain/api/auth.ts'
import { userOf } from '#domain/views/users.ts'
import { fresh, identified } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { route, type QueryServices } from '../services.ts'

export const authRoutes: readonly Route<QueryServices>[] = [
  route(getMe, fresh, identified, async ({ user }, { entry }) => ({
    user: userOf(user),
    isAdmin: await entry.isAdmin(user),
  })),
]
