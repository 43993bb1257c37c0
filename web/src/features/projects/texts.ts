/** What the project pages say. */
export const texts = {
  notFetched: 'Failed to fetch projects',
  repositoriesNotFetched: 'Failed to fetch repositories',
} as const
