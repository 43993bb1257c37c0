/** Texts that every page needs, including the sign-in. */
export const texts = {
  crashed: 'Something went wrong on this page',
  chunkMissing: "Couldn't load this page",
  chunkMissingWhy: 'Part of the page failed to download. Check your connection and reload.',
  reload: 'Reload',
} as const
