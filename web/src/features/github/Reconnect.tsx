/** Offers the owner of a task to reconnect GitHub, while the server has no access to their account. */
import type { Task } from '#domain/api/tasks.schema.ts'
import { isFault } from '../../api/fault.ts'
import { Button } from '../../ui/form/Button.tsx'
import { useWindowEvent } from '../../ui/hooks.ts'
import { Note } from '../../ui/layout/Note.tsx'
import { useMeQuery } from '../auth/authApi.ts'
import { useGitHubUserQuery } from './gitHubApi.ts'
import { lostAccess } from './lostAccess.ts'
import { useConnectGitHub } from './useConnectGitHub.ts'

const texts = {
  lost: 'Flightdeck has no access to your GitHub account.',
  reconnect: 'Reconnect GitHub',
  leaving: 'Connecting...',
}

export function Reconnect({ task }: { readonly task: Task }) {
  const { data: me } = useMeQuery()
  const isOwner = me?.user.id === task.owner
  const { error, isUninitialized, refetch } = useGitHubUserQuery(undefined, {
    skip: !isOwner,
    refetchOnMountOrArgChange: true,
  })
  const { connect, leaving } = useConnectGitHub(task.id)
  // The person may have connected their GitHub account in another tab, so the access is read again.
  useWindowEvent('focus', () => {
    if (!isUninitialized) void refetch()
  })
  if (!isOwner || !isFault(error, lostAccess)) return null
  return (
    <Note
      kind="warning"
      className="mx-4 mt-4"
      action={
        <Button size="touch" busy={leaving} busyLabel={texts.leaving} onClick={connect}>
          {texts.reconnect}
        </Button>
      }
    >
      {texts.lost}
    </Note>
  )
}
