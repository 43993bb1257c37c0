/** `/tasks`: a place kept for a page to come. */
import { ButtonLink } from '../ui/ButtonLink.tsx'
import { Page } from '../ui/Page.tsx'
import { placeTexts as texts } from './placeTexts.ts'
import { usePageTitle } from './usePageTitle.ts'

export function Tasks() {
  usePageTitle('Tasks')
  return (
    <Page title="Tasks" width="narrow">
      <p className="mb-4 text-muted">{texts.tasks}</p>
      <ButtonLink to="/dashboard" size="touch">
        {texts.tasksMeanwhile}
      </ButtonLink>
    </Page>
  )
}
