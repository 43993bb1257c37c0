/** The pages of a signed-in person and their frame, as they are drawn. */
import { chunks, chunksAt, type ChunkName } from './chunks.ts'
import { lazyPage, type LazyPage } from './lazyPage.ts'

export const pages = {
  Frame: lazyPage(chunks.Frame),
  Onboarding: lazyPage(chunks.Onboarding),
  Dashboard: lazyPage(chunks.Dashboard),
  Projects: lazyPage(chunks.Projects),
  CreateProject: lazyPage(chunks.CreateProject),
  ProjectDetail: lazyPage(chunks.ProjectDetail),
  ProjectSettings: lazyPage(chunks.ProjectSettings),
  Tasks: lazyPage(chunks.Tasks),
  TaskDetail: lazyPage(chunks.TaskDetail),
  Settings: lazyPage(chunks.Settings),
  NotFound: lazyPage(chunks.NotFound),
} satisfies Record<ChunkName, LazyPage>

/** What is drawn for a signed-in person at an address. */
export const partsAt = (pathname: string): readonly LazyPage[] =>
  chunksAt(pathname).map((name) => pages[name])
