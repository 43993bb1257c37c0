/** How many of the person's tasks run now. */
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
  // Only the number is looked at: what else changes in the list draws nothing here.
  const { running } = recentTasksApi.useRecentTasksQuery(undefined, {
    skip: !member,
    selectFromResult: ({ data }) => ({
      running: withoutDeleted(data?.tasks, deleted)?.filter(isRunning).length ?? 0,
    }),
  })
  return member ? running : 0
}
