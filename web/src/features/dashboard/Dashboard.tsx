/** The form for a new task, the latest tasks, and the next step for a newcomer. */
import { Suspense, useCallback, useEffect, useRef } from 'react'
import { useLocation } from 'react-router-dom'
import { usePageTitle } from '../tasks/usePageTitle.ts'
import { Page } from '../../ui/layout/Page.tsx'
import { optionalPart } from '../../ui/optionalPart.tsx'
import { Composer } from './Composer.tsx'
import { RecentTasks } from './RecentTasks.tsx'
import { texts } from './texts.ts'
import { isNewTask } from './newTaskState.ts'

// The first steps are in a chunk of their own, because only newcomers need them. They are last on the page, so nothing moves when they arrive.
const FirstSteps = optionalPart(async () => (await import('./FirstSteps.tsx')).FirstSteps)
// The offer of notifications is shown only after a task was started, when its chunk has long been loaded.
const AskToNotify = optionalPart(async () => (await import('../notifications/AskToNotify.tsx')).AskToNotify)

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
