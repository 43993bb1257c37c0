/** Rarely opened pages, each in a chunk of its own. They are listed here to keep them out of the first chunk, which everybody loads. */
import { Route, Routes } from 'react-router-dom'
import { Guard } from './Guard.tsx'
import { lazyPage } from './loading/lazyPage.ts'
import { NotFound, Tasks } from './StaticPages.tsx'

const Figures = lazyPage(async () => (await import('../features/figures/Figures.tsx')).Figures)
const ProjectSettings = lazyPage(
  async () => (await import('../features/projects/settings/ProjectSettings.tsx')).ProjectSettings,
)
const Setup = lazyPage(async () => (await import('../features/setup/Setup.tsx')).Setup)
const AuditLog = lazyPage(async () => (await import('../features/audit/AuditLog.tsx')).AuditLog)
const GitHubRights = lazyPage(async () => (await import('../features/github/Rights.tsx')).Rights)

export function OtherPages() {
  return (
    <Routes>
      <Route element={<Guard for="members" />}>
        <Route path="/tasks" element={<Tasks />} />
        <Route path="/projects/:projectId/settings" element={<ProjectSettings />} />
        <Route path="/figures" element={<Figures />} />
        <Route path="/admin/audit" element={<AuditLog />} />
        <Route path="/admin/github" element={<GitHubRights />} />
      </Route>
      <Route path="/setup" element={<Setup />} />
      <Route path="*" element={<NotFound />} />
    </Routes>
  )
}
