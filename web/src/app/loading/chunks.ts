/** The chunks of a signed-in person's pages and their frame, and which of them an address shows. Needs no library: pages are asked for before those have come. */

export const chunks = {
  Frame: async () => (await import('../frame/Layout.tsx')).Layout,
  Onboarding: async () => (await import('../../features/onboarding/Onboarding.tsx')).Onboarding,
  Dashboard: async () => (await import('../../features/dashboard/Dashboard.tsx')).Dashboard,
  Projects: async () => (await import('../../features/projects/Projects.tsx')).Projects,
  CreateProject: async () => (await import('../../features/projects/create/CreateProject.tsx')).CreateProject,
  ProjectDetail: async () => (await import('../../features/projects/ProjectDetail.tsx')).ProjectDetail,
  ProjectSettings: async () =>
    (await import('../../features/projects/settings/ProjectSettings.tsx')).ProjectSettings,
  Tasks: async () => (await import('../StaticPages.tsx')).Tasks,
  TaskDetail: async () => (await import('../../features/task/TaskDetail.tsx')).TaskDetail,
  Settings: async () => (await import('../../features/settings/Settings.tsx')).Settings,
  NotFound: async () => (await import('../StaticPages.tsx')).NotFound,
}

export type ChunkName = keyof typeof chunks

const byPath: readonly (readonly [path: RegExp, page: ChunkName])[] = [
  [/^\/(dashboard)?$/, 'Dashboard'],
  [/^\/projects$/, 'Projects'],
  [/^\/projects\/new$/, 'CreateProject'],
  [/^\/projects\/.+\/settings$/, 'ProjectSettings'],
  [/^\/projects\/./, 'ProjectDetail'],
  [/^\/tasks\/./, 'TaskDetail'],
  [/^\/settings$/, 'Settings'],
]

/** What a signed-in person sees at an address: the frame and the page in it, or nothing that is known. */
export function chunksAt(pathname: string): readonly ChunkName[] {
  const page = byPath.find(([path]) => path.test(pathname))?.[1]
  return page === undefined ? [] : ['Frame', page]
}
