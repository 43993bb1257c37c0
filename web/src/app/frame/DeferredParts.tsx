/** Parts of the frame that no page waits for: a chunk of their own. */
import { DesktopNotifications } from '../../features/notifications/DesktopNotifications.tsx'
import { RunningFavicon } from './RunningFavicon.tsx'

export function DeferredParts() {
  return (
    <>
      <RunningFavicon />
      <DesktopNotifications />
    </>
  )
}
