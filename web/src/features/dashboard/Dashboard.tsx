/** Where tasks begin, and the latest of them. */
import { useCallback, useEffect, useRef } from 'react'
import { useLocation } from 'react-router-dom'
import { usePageTitle } from '../../app/usePageTitle.ts'
import { Page } from '../../ui/Page.tsx'
import { AskToNotify } from '../notifications/AskToNotify.tsx'
import { Composer } from './Composer.tsx'
import { FirstSteps } from './FirstSteps.tsx'
import { RecentTasks } from './RecentTasks.tsx'
import { texts } from './texts.ts'
import { wantsToWrite } from './toWrite.ts'

export function Dashboard() {
  usePageTitle(texts.pageTitle)
  const composer = useRef<HTMLDivElement>(null)
  const { state } = useLocation()
  const write = useCallback(() => composer.current?.querySelector('textarea')?.focus(), [])
  useEffect(() => {
    if (wantsToWrite(state)) write()
  }, [state, write])
  return (
    <Page title={texts.heading} width="normal">
      <div ref={composer}>
        <Composer />
      </div>
      <AskToNotify />
      <RecentTasks />
      <FirstSteps onSuggested={write} />
    </Page>
  )
}
