/** Parts of the frame that pages do not wait for, in a chunk of their own. */
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
