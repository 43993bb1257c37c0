/** The chunks of signed-in pages and their frame, by address. Imports no library, because pages are requested before libraries have loaded. */

export const chunks = {
  Frame: async () => (await import('../frame/Layout.tsx')).Layout,
  Onboarding: async () => (await import('../../features/onboarding/Onboarding.tsx')).Onboarding,
  Dashboard: async () => (await import('../../features/dashboard/Dashboard.tsx')).Dashboard,
  Projects: async () => (await import('../../features/projects/Projects.tsx')).Projects,
  CreateProject: async () => (await import('../../features/projects/create/CreateProject.tsx')).CreateProject,
  ProjectDetail: async () => (await import('../../features/projects/ProjectDetail.tsx')).ProjectDetail,
  TaskDetail: async () => (await import('../../features/task/TaskDetail.tsx')).TaskDetail,
  Settings: async () => (await import('../../features/settings/Settings.tsx')).Settings,
  OtherPages: async () => (await import('../OtherPages.tsx')).OtherPages,
}

export type ChunkName = keyof typeof chunks

const byPath: readonly (readonly [path: RegExp, page: ChunkName])[] = [
  [/^\/(dashboard)?$/, 'Dashboard'],
  [/^\/projects$/, 'Projects'],
  [/^\/projects\/new$/, 'CreateProject'],
  [/^\/(projects\/.+\/settings|figures|admin)/, 'OtherPages'],
  [/^\/projects\/./, 'ProjectDetail'],
  [/^\/tasks\/./, 'TaskDetail'],
  [/^\/settings$/, 'Settings'],
]

/** The chunks for an address when signed in: the frame and its page; none if it is not in `byPath`. */
export function chunksAt(pathname: string): readonly ChunkName[] {
  const page = byPath.find(([path]) => path.test(pathname))?.[1]
  return page === undefined ? [] : ['Frame', page]
}
