/** What tasks, and their pages, say. */
export const texts = {
  notFetched: 'Failed to fetch tasks',
  notLoaded: 'Failed to fetch task',
} as const
