/** The number of the person's running tasks. */
import { useSelector } from 'react-redux'
import { selectSignedIn } from '../../api/session.ts'
import { useMeQuery } from '../auth/authApi.ts'
import { selectDeletions, withoutDeleted } from '../deletions/deletions.ts'
import { isRunning } from './taskStatus.ts'
import { recentTasksApi } from './recentTasksApi.ts'

export function useRunningCount(): number {
  const signedIn = useSelector(selectSignedIn)
  const { data: me } = useMeQuery(undefined, { skip: !signedIn })
  const member = signedIn && me?.user.onboardingCompleted === true
  const deleted = useSelector(selectDeletions)
  // Selects only the number, so that other changes of the list cause no render.
  const { running } = recentTasksApi.useRecentTasksQuery(undefined, {
    skip: !member,
    selectFromResult: ({ data }) => ({
      running: withoutDeleted(data?.tasks, deleted)?.filter(isRunning).length ?? 0,
    }),
  })
  return member ? running : 0
}
