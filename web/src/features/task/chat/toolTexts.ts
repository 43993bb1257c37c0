/** Texts of the details of a tool call. */
export const texts = {
  imagesLeftOut: (count: number) => `${count} more ${count === 1 ? 'image' : 'images'} not kept`,
} as const
