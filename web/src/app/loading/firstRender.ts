/** What a page is first drawn with: each wait that is shown costs a third of a second, and mostly all of it is there at once. */
import { readToken } from '../../api/tokenStore.ts'
import { authApi } from '../../features/auth/authApi.ts'
import { recentTasksApi } from '../../features/tasks/recentTasksApi.ts'
import { preload } from './pages.ts'
import { noticesApi } from '../frame/noticesApi.ts'
import type { createStore } from '../store.ts'

/** How long the first drawing waits for what is to be drawn, in milliseconds: on a slow network it shows that it waits. */
const patienceMs = 300

/** Asks for the page, who looks at it, and then their tasks and the notices above them; resolves when they are there, or it has taken too long. It never fails. */
export async function firstRenderReady(
  { dispatch }: ReturnType<typeof createStore>['store'],
  pathname: string,
  load: typeof preload = preload,
): Promise<void> {
  if (readToken() === null) return
  const { me } = authApi.endpoints
  const { recentTasks } = recentTasksApi.endpoints
  const { notices } = noticesApi.endpoints
  // Every page counts the tasks that run: they are asked for as soon as it is known who looks.
  const known = dispatch(me.initiate(undefined, { subscribe: false })).then(({ data }) => {
    if (data?.user.onboardingCompleted !== true) return undefined
    // What comes above the page later moves all of it, and is the largest thing on it.
    return Promise.all([
      dispatch(recentTasks.initiate(undefined, { subscribe: false })),
      dispatch(notices.initiate(undefined, { subscribe: false })),
    ])
  })
  const late = new Promise((resolve) => setTimeout(resolve, patienceMs))
  await Promise.race([Promise.all([load(pathname), known]), late])
}
