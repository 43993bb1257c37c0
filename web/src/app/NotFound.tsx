/** Any address that is none. */
import { useSelector } from 'react-redux'
import { selectSignedIn } from '../api/session.ts'
import { Brand } from '../ui/Brand.tsx'
import { ButtonLink } from '../ui/ButtonLink.tsx'
import { Page } from '../ui/Page.tsx'
import { placeTexts as texts } from './placeTexts.ts'
import { usePageTitle } from './usePageTitle.ts'

export function NotFound() {
  usePageTitle(texts.notFound)
  const signedIn = useSelector(selectSignedIn)
  return (
    <Page title={texts.notFound} width="narrow" above={!signedIn && <Brand className="mb-8" />}>
      <p className="mb-4 text-muted">{texts.notFoundWhy}</p>
      <ButtonLink to="/dashboard" size="touch">
        {texts.goHome}
      </ButtonLink>
    </Page>
  )
}
