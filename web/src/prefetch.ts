/** Runs before the libraries are loaded: requests the code and data of a signed-in person's first page, so that they arrive with the libraries. */
import { authRoutes } from '#domain/api/auth.ts'
import type { Route } from '#domain/api/route.ts'
import { serverRoutes } from '#domain/api/server.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import { prefetch, prefetchedTasks } from './api/prefetched.ts'
import { readToken } from './api/tokenStore.ts'
import { chunks, chunksAt } from './app/loading/chunks.ts'

const token = readToken()
const first = chunksAt(location.pathname)
// Pages without chunks are left out: on some of them, such as the page that a sign-in returns to, the token may still be replaced.
if (token !== null && first.length > 0) {
  void requestData(token)
  // If a chunk fails to load, the page requests it again, and shows the failure.
  for (const name of first) chunks[name]().catch(() => undefined)
}

async function requestData(token: string): Promise<void> {
  const me = await prefetch(addressOf(authRoutes.getMe), token).catch(() => null)
  // Before the onboarding is complete, the server would refuse these calls.
  if (!/"onboardingCompleted":true/.test((await me?.text()) ?? '')) return
  void prefetch(`${addressOf(taskRoutes.listTasks)}?limit=${prefetchedTasks}`, token)
  void prefetch(addressOf(serverRoutes.getNotices), token)
}

function addressOf({ path }: Route): string {
  return `/api${path}`
}
