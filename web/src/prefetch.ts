/** Runs before the libraries are there: asks for what a signed-in person's first page needs, so that all of it comes together. */
import { authRoutes } from '#domain/api/auth.ts'
import type { Route } from '#domain/api/route.ts'
import { serverRoutes } from '#domain/api/server.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import { prefetch, prefetchedTasks } from './api/prefetched.ts'
import { readToken } from './api/tokenStore.ts'
import { chunks, chunksAt } from './app/loading/chunks.ts'

const token = readToken()
const first = chunksAt(location.pathname)
// Elsewhere, as where a sign-in comes back, there may be another token to come.
if (token !== null && first.length > 0) {
  void askForData(token)
  // That one does not come is told where it is shown.
  for (const name of first) chunks[name]().catch(() => undefined)
}

async function askForData(token: string): Promise<void> {
  const me = await prefetch(addressOf(authRoutes.getMe), token).catch(() => null)
  // A newcomer may not ask for tasks. Whoever takes the answer reads it as a whole.
  if (!/"onboardingCompleted":true/.test((await me?.text()) ?? '')) return
  void prefetch(`${addressOf(taskRoutes.listTasks)}?limit=${prefetchedTasks}`, token)
  void prefetch(addressOf(serverRoutes.getNotices), token)
}

function addressOf({ path }: Route): string {
  return `/api${path}`
}
