/** A page for administrators; others see a refusal and a link back. */
import type { ReactNode } from 'react'
import { ButtonLink } from '../../ui/form/Button.tsx'
import { Page } from '../../ui/layout/Page.tsx'
import { useMeQuery } from '../auth/authApi.ts'
import { usePageTitle } from '../tasks/usePageTitle.ts'

const texts = { back: 'Go to Dashboard' }

interface ForAdminsProps {
  readonly title: string
  /** The sentence that people who are not administrators see. */
  readonly refusal: string
  readonly children: ReactNode
}

export function ForAdmins({ title, refusal, children }: ForAdminsProps) {
  usePageTitle(title)
  const { data } = useMeQuery()
  if (data?.isAdmin === true) return children
  return (
    <Page title={title} width="narrow">
      <p className="mb-4 text-muted">{refusal}</p>
      <ButtonLink to="/dashboard" size="touch">
        {texts.back}
      </ButtonLink>
    </Page>
  )
}
