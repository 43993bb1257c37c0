/** Parts of the frame for which no page waits: a chunk of their own. */
import { DesktopNotifications } from '../features/notifications/DesktopNotifications.tsx'
import { RunningFavicon } from './RunningFavicon.tsx'

export function LaterParts() {
  return (
    <>
      <RunningFavicon />
      <DesktopNotifications />
    </>
  )
}
