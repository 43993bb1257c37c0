/** How many of the person's tasks run now. */
import { useSelector } from 'react-redux'
import { selectSignedIn } from '../../api/session.ts'
import { useMeQuery } from '../auth/authApi.ts'
import { useRecentTasksQuery } from './tasksApi.ts'

export function useRunningCount(): number {
  const signedIn = useSelector(selectSignedIn)
  const { data: me } = useMeQuery(undefined, { skip: !signedIn })
  const member = signedIn && me?.user.onboardingCompleted === true
  const { running } = useRecentTasksQuery(undefined, {
    skip: !member,
    selectFromResult: ({ data }) => ({
      running: data?.tasks.filter(({ status }) => status === 'running').length ?? 0,
    }),
  })
  return member ? running : 0
}
