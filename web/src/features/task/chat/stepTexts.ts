/** The texts in the steps of a turn. */
export const texts = {
  imagesLeftOut: (count: number) => `${count} more ${count === 1 ? 'image' : 'images'} not kept`,
  /** The label of a text by a sub-agent. */
  said: 'Said',
} as const
