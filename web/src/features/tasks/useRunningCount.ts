/** The number of running tasks among the person's newest tasks, and the number of those whose agent waits for the person. */
import { useSelector } from 'react-redux'
import { selectSignedIn } from '../../api/session.ts'
import { useMeQuery } from '../auth/authApi.ts'
import { selectDeletions, withoutDeleted } from '../deletions/deletions.ts'
import { isRunning, isWaiting } from './taskStatus.ts'
import { recentTasksApi } from './recentTasksApi.ts'

export const useRunningCount = () => useCount(isRunning)
export const useWaitingCount = () => useCount(isWaiting)

function useCount(isCounted: typeof isWaiting): number {
  const signedIn = useSelector(selectSignedIn)
  const { data: me } = useMeQuery(undefined, { skip: !signedIn })
  const member = signedIn && me?.user.onboardingCompleted === true
  const deleted = useSelector(selectDeletions)
  // Selects only the number, so that other changes of the list cause no render.
  const { count } = recentTasksApi.useRecentTasksQuery(undefined, {
    skip: !member,
    selectFromResult: ({ data }) => ({
      count: withoutDeleted(data?.tasks, deleted)?.filter(isCounted).length ?? 0,
    }),
  })
  return member ? count : 0
}
