/** The pages of the client, by which page views are counted. */

/** Addresses of pages, with `:name` for each parameter. */
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
  '/tasks/:taskId/compare',
  '/settings',
  '/mcp/callback',
  '/setup',
  '/figures',
  '/admin/audit',
  '/admin/github',
] as const
export type PageRoute = (typeof pageRoutes)[number] | 'other'

/** The route for the address of a page, without parameter values; `other` for an unknown address. */
export function pageRouteOf(path: string): PageRoute {
  // The first match wins: `/projects/new` comes before `/projects/:projectId`.
  const fits = (route: string) => new RegExp(`^/*${route.replace(/:\w+/g, '[^/]+')}/*$`).test(`/${path}`)
  return pageRoutes.find(fits) ?? 'other'
}
