/** Who is signed in. */
import { getMe } from '#domain/api/auth.ts'
import { userOf } from '#domain/views/users.ts'
import { identified } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { route, fresh, type QueryServices } from '../services.ts'

export const authRoutes: readonly Route<QueryServices>[] = [
  route(getMe, fresh, identified, async ({ user }) => ({ user: userOf(user) })),
]
