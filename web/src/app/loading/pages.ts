/** The pages of a signed-in person and their frame, as components. */
import { type ChunkName, chunks, chunksAt } from './chunks.ts'
import { lazyPage, type LazyPage } from './lazyPage.ts'

export const pages = {
  Frame: lazyPage(chunks.Frame),
  Onboarding: lazyPage(chunks.Onboarding),
  Dashboard: lazyPage(chunks.Dashboard),
  Projects: lazyPage(chunks.Projects),
  CreateProject: lazyPage(chunks.CreateProject),
  ProjectDetail: lazyPage(chunks.ProjectDetail),
  TaskDetail: lazyPage(chunks.TaskDetail),
  Settings: lazyPage(chunks.Settings),
  OtherPages: lazyPage(chunks.OtherPages),
} satisfies Record<ChunkName, LazyPage>

/** The frame and the page that a signed-in person sees at this address. */
export const partsAt = (pathname: string): readonly LazyPage[] =>
  chunksAt(pathname).map((name) => pages[name])

export type PartsAt = (pathname: string) => readonly { readonly load: () => Promise<unknown> }[]

/** Loads the page at this address and its frame in parallel. Never rejects: a part that fails to load is loaded again when the page is shown. */
export async function preload(pathname: string, parts: PartsAt = partsAt): Promise<void> {
  await Promise.allSettled(parts(pathname).map((part) => part.load()))
}

/** Loads the page of a link when somebody points at the link, so that the page is there when they click. */
export function loadWherePointed(document: Document, parts: PartsAt = partsAt): void {
  const pointed = ({ target }: Event) => {
    // Loads nothing while offline, since some browsers remember a failed import and never try it again.
    if (!navigator.onLine) return
    const link = target instanceof Element ? target.closest('a[href]') : null
    if (link instanceof HTMLAnchorElement && link.origin === document.location.origin)
      void preload(link.pathname, parts)
  }
  for (const event of ['pointerover', 'pointerdown', 'focusin']) {
    document.addEventListener(event, pointed, { passive: true })
  }
}
