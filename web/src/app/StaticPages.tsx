/** Pages with only a message: an unknown address, and `/tasks`. They come with the chunk that lists the rarely opened pages. */
import { useSelector } from 'react-redux'
import { selectSignedIn } from '../api/session.ts'
import { Brand } from '../ui/text/Brand.tsx'
import { ButtonLink } from '../ui/form/Button.tsx'
import { Page } from '../ui/layout/Page.tsx'
import { usePageTitle } from '../features/tasks/usePageTitle.ts'

const texts = {
  notFound: 'Page not found',
  notFoundWhy: 'The address may be mistyped, or the page was moved or deleted.',
  goHome: 'Go back home',
  tasks: 'Tasks page coming soon...',
  tasksMeanwhile: 'See Recent Tasks',
} as const

export function NotFound() {
  return <Message title={texts.notFound} why={texts.notFoundWhy} back={texts.goHome} />
}

/** `/tasks`: reserved for a page that does not exist yet. */
export function Tasks() {
  return <Message title="Tasks" why={texts.tasks} back={texts.tasksMeanwhile} />
}

function Message({
  title,
  why,
  back,
}: {
  readonly title: string
  readonly why: string
  readonly back: string
}) {
  usePageTitle(title)
  const signedIn = useSelector(selectSignedIn)
  return (
    <Page title={title} width="narrow" above={!signedIn && <Brand className="mb-8" />}>
      <p className="mb-4 text-muted">{why}</p>
      <ButtonLink to="/dashboard" size="touch">
        {back}
      </ButtonLink>
    </Page>
  )
}
