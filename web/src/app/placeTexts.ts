/** What is said at addresses that have no page. Apart, since hardly anybody comes there. */
export const placeTexts = {
  notFound: 'Page not found',
  notFoundWhy: 'The address may be mistyped, or the page was moved or deleted.',
  goHome: 'Go back home',
  tasks: 'Tasks page coming soon...',
  tasksMeanwhile: 'See Recent Tasks',
} as const
