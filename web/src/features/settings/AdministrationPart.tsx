/** For administrators: links to the audit log and to the rights of the App. */
import { ButtonLink } from '../../ui/form/Button.tsx'
import { useMeQuery } from '../auth/authApi.ts'
import { adminTexts as texts } from './texts.ts'

export function AdministrationPart() {
  const { data } = useMeQuery()
  if (data?.isAdmin !== true) return null
  return (
    <section className="mt-8">
      <h2 className="mb-1 font-semibold">{texts.heading}</h2>
      <p className="mb-3 text-muted">{texts.why}</p>
      <div className="flex flex-wrap gap-2">
        <ButtonLink to="/admin/audit" size="touch">
          {texts.open}
        </ButtonLink>
        <ButtonLink to="/admin/github" size="touch">
          {texts.openRights}
        </ButtonLink>
      </div>
    </section>
  )
}
