/** Loads the chunks of a page before it is shown: one after the other they would be as many waits. */

const chunks = {
  frame: () => import('./Layout.tsx'),
  dashboard: () => import('../features/dashboard/Dashboard.tsx'),
  projects: () => import('../features/projects/Projects.tsx'),
  newProject: () => import('../features/projects/CreateProject.tsx'),
  project: () => import('../features/projects/ProjectDetail.tsx'),
  task: () => import('../features/task/TaskDetail.tsx'),
  settings: () => import('../features/settings/Settings.tsx'),
} as const
type Chunk = keyof typeof chunks

const pages: readonly (readonly [path: RegExp, chunk: Chunk])[] = [
  [/^\/(dashboard)?$/, 'dashboard'],
  [/^\/projects$/, 'projects'],
  [/^\/projects\/new$/, 'newProject'],
  [/^\/projects\/[^/]+$/, 'project'],
  [/^\/tasks\/[^/]+$/, 'task'],
  [/^\/settings$/, 'settings'],
]

export type LoadChunk = (chunk: Chunk) => Promise<unknown>
const loadChunk: LoadChunk = (chunk) => chunks[chunk]()

/** What a signed-in person sees at this address, with its frame. What does not come is told where it is shown. */
export function loadAhead(pathname: string, load: LoadChunk = loadChunk): void {
  const page = pages.find(([path]) => path.test(pathname))?.[1]
  if (page === undefined) return
  for (const chunk of ['frame', page] as const) load(chunk).catch(() => undefined)
}

/** Loads the page that a link leads to when somebody points at it: until they press there is time enough. */
export function loadWherePointed(document: Document, load: LoadChunk = loadChunk): void {
  const pointed = ({ target }: Event) => {
    // Some browsers remember that a chunk did not come, and ask for it no more.
    if (!navigator.onLine) return
    const link = target instanceof Element ? target.closest('a[href]') : null
    if (link instanceof HTMLAnchorElement && link.origin === document.location.origin)
      loadAhead(link.pathname, load)
  }
  for (const event of ['pointerover', 'pointerdown', 'focusin']) {
    document.addEventListener(event, pointed, { passive: true })
  }
}
