/**
 * Rarely opened pages: those with only a message, and others in chunks of their own. They are listed here to keep them out of the first chunk, which
 * everybody loads.
 */
import { Route, Routes } from 'react-router-dom'
import { useSelector } from 'react-redux'
import { Guard } from './Guard.tsx'
import { lazyPage } from './loading/lazyPage.ts'
import { selectSignedIn } from '../api/session.ts'
import { Brand } from '../ui/text/Brand.tsx'
import { ButtonLink } from '../ui/form/Button.tsx'
import { Page } from '../ui/layout/Page.tsx'
import { usePageTitle } from '../features/tasks/usePageTitle.ts'

const Figures = lazyPage(async () => (await import('../features/figures/Figures.tsx')).Figures)
const ProjectSettings = lazyPage(
  async () => (await import('../features/projects/settings/ProjectSettings.tsx')).ProjectSettings,
)
const McpCallback = lazyPage(async () => (await import('../features/mcp/McpCallback.tsx')).McpCallback)
const Setup = lazyPage(async () => (await import('../features/setup/Setup.tsx')).Setup)
const AuditLog = lazyPage(async () => (await import('../features/audit/AuditLog.tsx')).AuditLog)
const GitHubRights = lazyPage(async () => (await import('../features/github/Rights.tsx')).Rights)

export function OtherPages() {
  return (
    <Routes>
      <Route element={<Guard for="members" />}>
        <Route path="/tasks" element={<Tasks />} />
        <Route path="/projects/:projectId/settings" element={<ProjectSettings />} />
        <Route path="/mcp/callback" element={<McpCallback />} />
        <Route path="/figures" element={<Figures />} />
        <Route path="/admin/audit" element={<AuditLog />} />
        <Route path="/admin/github" element={<GitHubRights />} />
      </Route>
      <Route path="/setup" element={<Setup />} />
      <Route path="*" element={<NotFound />} />
    </Routes>
  )
}

const texts = {
  notFound: 'Page not found',
  notFoundWhy: 'The address may be mistyped, or the page was moved or deleted.',
  goHome: 'Go back home',
  tasks: 'Tasks page coming soon...',
  tasksMeanwhile: 'See Recent Tasks',
} as const

/** The page for an unknown address. */
function NotFound() {
  return <Message title={texts.notFound} why={texts.notFoundWhy} back={texts.goHome} />
}

/** `/tasks`: reserved for a page that does not exist yet. */
function Tasks() {
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
