/** The pages of a signed-in person and their frame, each a chunk of its own, and which of them an address shows. */
import { lazyPage, type LazyPage } from './lazyPage.ts'

export const Frame = lazyPage(async () => (await import('./Layout.tsx')).Layout)
export const Onboarding = lazyPage(
  async () => (await import('../features/onboarding/Onboarding.tsx')).Onboarding,
)
export const Dashboard = lazyPage(async () => (await import('../features/dashboard/Dashboard.tsx')).Dashboard)
export const Projects = lazyPage(async () => (await import('../features/projects/Projects.tsx')).Projects)
export const CreateProject = lazyPage(
  async () => (await import('../features/projects/CreateProject.tsx')).CreateProject,
)
export const ProjectDetail = lazyPage(
  async () => (await import('../features/projects/ProjectDetail.tsx')).ProjectDetail,
)
export const ProjectSettings = lazyPage(
  async () => (await import('../features/projects/settings/ProjectSettings.tsx')).ProjectSettings,
)
export const Tasks = lazyPage(async () => (await import('./Tasks.tsx')).Tasks)
export const TaskDetail = lazyPage(async () => (await import('../features/task/TaskDetail.tsx')).TaskDetail)
export const Settings = lazyPage(async () => (await import('../features/settings/Settings.tsx')).Settings)
export const NotFound = lazyPage(async () => (await import('./NotFound.tsx')).NotFound)

const byPath: readonly (readonly [path: RegExp, page: LazyPage])[] = [
  [/^\/(dashboard)?$/, Dashboard],
  [/^\/projects$/, Projects],
  [/^\/projects\/new$/, CreateProject],
  [/^\/projects\/[^/]+$/, ProjectDetail],
  [/^\/projects\/[^/]+\/settings$/, ProjectSettings],
  [/^\/tasks\/[^/]+$/, TaskDetail],
  [/^\/settings$/, Settings],
]

/** What a signed-in person sees at an address: the frame and the page in it, or nothing that is known. */
export function partsAt(pathname: string): readonly LazyPage[] {
  const page = byPath.find(([path]) => path.test(pathname))?.[1]
  return page === undefined ? [] : [Frame, page]
}
