/** The toasts, over what matters least on a page; what they look like is loaded once the page stands. */
import { lazy, Suspense, useEffect } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { deletionEnded, selectDeletions } from '../deletions/deletions.ts'
import { texts as deletionTexts } from '../deletions/texts.ts'
import { classes } from '../../ui/classes.ts'
import { notificationClosed, selectNotifications } from './notifications.ts'

const loadToast = () => import('../../ui/Toast.tsx')
const Toast = lazy(async () => ({ default: (await loadToast()).Toast }))

interface ToastsProps {
  /** At the bottom right, or over the middle of the top bar where a page goes on to the bottom of the window. */
  readonly place?: 'bottom' | 'top'
}

export function Toasts({ place = 'bottom' }: ToastsProps) {
  const dispatch = useDispatch()
  const shown = useSelector(selectNotifications)
  const deletions = useSelector(selectDeletions)
  const undoOf = (noticeId: string) => {
    const deletion = deletions.find((one) => one.noticeId === noticeId && !one.asked)
    if (deletion === undefined) return undefined
    return {
      label: deletionTexts.undo,
      onClick: () => {
        dispatch(deletionEnded(deletion.id))
        dispatch(notificationClosed(noticeId))
      },
    }
  }
  // Before there is one: most are shown when the server is away, and nothing could be loaded then.
  useEffect(() => void loadToast().catch(() => undefined), [])
  return (
    <section aria-label="Notifications">
      <ol
        aria-label="Notifications"
        className={classes(
          'pointer-events-none fixed z-50 flex gap-2 empty:hidden',
          // The latest is nearest to the edge.
          place === 'top'
            ? 'inset-x-2 top-0.5 flex-col-reverse items-center'
            : 'inset-x-4 bottom-4 flex-col items-end',
        )}
      >
        <Suspense>
          {shown.map(({ id, type, title, message, duration }) => (
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
