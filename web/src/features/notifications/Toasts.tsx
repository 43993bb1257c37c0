/**
 * The toasts, at the bottom right or, on a page that fills the window, over the top bar. The component that draws them is loaded after the first
 * render.
 */
import { lazy, Suspense, useEffect } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { deletionEnded, selectDeletions } from '../deletions/deletions.ts'
import { texts as deletionTexts } from '../deletions/texts.ts'
import { notificationClosed, selectNotifications } from './notifications.ts'

const loadToast = () => import('../../ui/overlay/Toast.tsx')
const Toast = lazy(async () => ({ default: (await loadToast()).Toast }))

export function Toasts() {
  const dispatch = useDispatch()
  const notices = useSelector(selectNotifications)
  const deletions = useSelector(selectDeletions)
  const undoOf = (noticeId: string) => {
    const deletion = deletions.find((one) => one.noticeId === noticeId && !one.isSent)
    if (deletion === undefined) return undefined
    return {
      label: deletionTexts.undo,
      onClick: () => {
        dispatch(deletionEnded(deletion.id))
        dispatch(notificationClosed(noticeId))
      },
    }
  }
  // Preloaded, because a toast may say that the server cannot be reached, and the component could not be loaded then.
  useEffect(() => void loadToast().catch(() => undefined), [])
  return (
    <section aria-label="Notifications">
      {/* Always shown: a screen reader reads out only what is added to a live region that it knows. */}
      <ol
        aria-label="Notifications"
        aria-live="polite"
        className="toasts pointer-events-none fixed z-50 flex gap-2"
      >
        <Suspense>
          {notices.map(({ id, type, title, message, duration }) => (
            <Toast
              key={id}
              kind={type}
              title={title}
              message={message}
              duration={duration}
              action={undoOf(id)}
              closeLabel="Dismiss"
              onClose={() => dispatch(notificationClosed(id))}
            />
          ))}
        </Suspense>
      </ol>
    </section>
  )
}
