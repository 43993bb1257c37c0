/** The chunks of a signed-in person's pages and their frame, and which of them an address shows. Needs no library: pages are asked for before those have come. */

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

/** What a signed-in person sees at an address: the frame and the page in it, or nothing that is known. */
export function chunksAt(pathname: string): readonly ChunkName[] {
  const page = byPath.find(([path]) => path.test(pathname))?.[1]
  return page === undefined ? [] : ['Frame', page]
}
