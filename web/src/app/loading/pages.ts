/** The pages of a signed-in person and their frame, as they are drawn. */
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

/** What is drawn for a signed-in person at an address. */
export const partsAt = (pathname: string): readonly LazyPage[] =>
  chunksAt(pathname).map((name) => pages[name])

/** Loads the chunks of a page before it is shown: one after the other they would be as many waits. */
export type PartsAt = (pathname: string) => readonly { readonly load: () => Promise<unknown> }[]

/** What a signed-in person sees at this address, with its frame. It never fails: what does not come is told where it is shown. */
export async function preload(pathname: string, parts: PartsAt = partsAt): Promise<void> {
  await Promise.allSettled(parts(pathname).map((part) => part.load()))
}

/** Loads the page that a link leads to when somebody points at it: until they press there is time enough. */
export function loadWherePointed(document: Document, parts: PartsAt = partsAt): void {
  const pointed = ({ target }: Event) => {
    // Some browsers remember that a chunk did not come, and ask for it no more.
    if (!navigator.onLine) return
    const link = target instanceof Element ? target.closest('a[href]') : null
    if (link instanceof HTMLAnchorElement && link.origin === document.location.origin)
      void preload(link.pathname, parts)
  }
  for (const event of ['pointerover', 'pointerdown', 'focusin']) {
    document.addEventListener(event, pointed, { passive: true })
  }
}
