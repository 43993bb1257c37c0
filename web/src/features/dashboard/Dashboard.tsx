/** Where tasks begin, and the latest of them. */
import { lazy, Suspense, useCallback, useEffect, useRef, type ComponentType } from 'react'
import { useLocation } from 'react-router-dom'
import { usePageTitle } from '../tasks/usePageTitle.ts'
import { Page } from '../../ui/layout/Page.tsx'
import { Composer } from './Composer.tsx'
import { RecentTasks } from './RecentTasks.tsx'
import { texts } from './texts.ts'
import { isNewTask } from './newTaskLocation.ts'

// The last thing on the page, and of use to newcomers alone: it comes after what all need, moves none of it, and may be missing.
const FirstSteps = lazy<ComponentType<{ readonly onSuggested: () => void }>>(() =>
  import('./FirstSteps.tsx').then(
    (chunk) => ({ default: chunk.FirstSteps }),
    () => ({ default: () => null }),
  ),
)

// Asked once a task was begun: by then it is here, or it is not asked.
const AskToNotify = lazy<ComponentType>(() =>
  import('../notifications/AskToNotify.tsx').then(
    (chunk) => ({ default: chunk.AskToNotify }),
    () => ({ default: () => null }),
  ),
)

export function Dashboard() {
  usePageTitle(texts.pageTitle)
  const composer = useRef<HTMLDivElement>(null)
  const { state } = useLocation()
  const write = useCallback(() => composer.current?.querySelector('textarea')?.focus(), [])
  useEffect(() => {
    if (isNewTask(state)) write()
  }, [state, write])
  return (
    <Page title={texts.heading} width="normal">
      <div ref={composer}>
        <Composer />
      </div>
      <Suspense fallback={null}>
        <AskToNotify />
      </Suspense>
      <RecentTasks />
      <Suspense fallback={null}>
        <FirstSteps onSuggested={write} />
      </Suspense>
    </Page>
  )
}
