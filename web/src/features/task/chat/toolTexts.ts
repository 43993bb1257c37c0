/** The texts in the steps of a turn. */
export const texts = {
  imagesLeftOut: (count: number) => `${count} more ${count === 1 ? 'image' : 'images'} not kept`,
  /** By a sub-agent. */
  said: 'Said',
} as const
