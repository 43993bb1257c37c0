/** Where tasks begin, and the latest of them. */
import { usePageTitle } from '../../app/usePageTitle.ts'
import { Page } from '../../ui/Page.tsx'
import { Composer } from './Composer.tsx'
import { RecentTasks } from './RecentTasks.tsx'
import { texts } from './texts.ts'

export function Dashboard() {
  usePageTitle(texts.pageTitle)
  return (
    <Page title={texts.heading} width="normal">
      <Composer />
      <RecentTasks />
    </Page>
  )
}
