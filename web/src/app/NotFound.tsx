/** Any address that is none. */
import { ButtonLink } from '../ui/ButtonLink.tsx'
import { Page } from '../ui/Page.tsx'
import { texts } from './texts.ts'
import { usePageTitle } from './usePageTitle.ts'

export function NotFound() {
  usePageTitle(texts.notFound)
  return (
    <Page title={texts.notFound} width="narrow">
      <p className="mb-4 text-muted">{texts.notFoundWhy}</p>
      <ButtonLink to="/dashboard" size="touch">
        {texts.goHome}
      </ButtonLink>
    </Page>
  )
}
