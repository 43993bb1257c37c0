/** Loads the data of the first page before it is rendered, since each loading state on the way costs a third of a second. */
import { readToken } from '../../api/tokenStore.ts'
import { authApi } from '../../features/auth/authApi.ts'
import { recentTasksApi } from '../../features/tasks/recentTasksApi.ts'
import { preload } from './pages.ts'
import { aboutServerApi } from '../../api/aboutServerApi.ts'
import type { createStore } from '../store.ts'

/** How long the first render waits for its data, in milliseconds; on a slow network, loading states are shown after this time. */
const patienceMs = 300

/**
 * Loads the page and the user, then the user's tasks and notices. Resolves when all are loaded or the time is over, and at once without a token.
 * Never rejects.
 */
export async function firstRenderReady(
  { dispatch }: ReturnType<typeof createStore>['store'],
  pathname: string,
  load: typeof preload = preload,
): Promise<void> {
  if (readToken() === null) return
  const { me } = authApi.endpoints
  const { recentTasks } = recentTasksApi.endpoints
  const { notices } = aboutServerApi.endpoints
  // Every page shows the number of running tasks, so the tasks are requested as soon as the user is known.
  const reads = dispatch(me.initiate(undefined, { subscribe: false })).then(({ data }) => {
    if (data?.user.onboardingCompleted !== true) return undefined
    // Notices that arrive later would shift the whole page, and they are often its largest visible part.
    return Promise.all([
      dispatch(recentTasks.initiate(undefined, { subscribe: false })),
      dispatch(notices.initiate(undefined, { subscribe: false })),
    ])
  })
  const timeout = new Promise((resolve) => setTimeout(resolve, patienceMs))
  await Promise.race([Promise.all([load(pathname), reads]), timeout])
}
