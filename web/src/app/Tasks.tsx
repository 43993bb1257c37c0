/** `/tasks`: a place kept for a page to come. */
import { Page } from '../ui/Page.tsx'
import { texts } from './texts.ts'
import { usePageTitle } from './usePageTitle.ts'

export function Tasks() {
  usePageTitle('Tasks')
  return (
    <Page title="Tasks" width="narrow">
      <p className="text-muted">{texts.tasks}</p>
    </Page>
  )
}
