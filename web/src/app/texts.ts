/** What is said before anything else is there: every page loads it, the sign-in too. */
export const texts = {
  crashed: 'Something went wrong on this page',
  chunkMissing: "Couldn't load this page",
  chunkMissingWhy: 'Part of the page failed to download. Check your connection and reload.',
  reload: 'Reload',
} as const
