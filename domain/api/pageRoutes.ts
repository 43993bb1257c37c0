/** Pages of the client, as they are counted. No schema is here: the client has it from its first page on. */

/** Addresses of pages, with `:name` for what names a thing. */
export const pageRoutes = [
  '/',
  '/auth',
  '/auth/callback',
  '/login',
  '/onboarding',
  '/onboarding/subscription',
  '/dashboard',
  '/projects',
  '/projects/new',
  '/projects/:projectId',
  '/projects/:projectId/settings',
  '/tasks',
  '/tasks/:taskId',
  '/settings',
] as const
export type PageRoute = (typeof pageRoutes)[number] | 'other'

/** The address of a page without what names a thing; `other` for one that is none. A route is its own. */
export function pageRouteOf(path: string): PageRoute {
  const parts = partsOf(path)
  // The first that fits: `/projects/new` stands before `/projects/:projectId`.
  const fits = (route: string) => {
    const wanted = partsOf(route)
    return (
      wanted.length === parts.length &&
      wanted.every((part, index) => part.startsWith(':') || part === parts[index])
    )
  }
  return pageRoutes.find(fits) ?? 'other'
}

const partsOf = (path: string): readonly string[] => path.split('/').filter(Boolean)
