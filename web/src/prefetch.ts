/** Runs before the libraries are there: asks for what a signed-in person's first page needs, so that all of it comes together. */
import { prefetch } from './api/prefetched.ts'
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
  const me = await prefetch('/api/auth/me', token).catch(() => null)
  // A newcomer may not ask for tasks. Whoever takes the answer reads it as a whole.
  if (!/"onboardingCompleted":true/.test((await me?.text()) ?? '')) return
  for (const address of ['/api/tasks?limit=50', '/api/notices']) void prefetch(address, token)
}
