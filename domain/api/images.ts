/** Images: routes, limits and the sentences of refusals. */
import type { Routes } from './route.ts'

export const imageRoutes = {
  uploadImage: { method: 'POST', path: '/upload/image' },
  /** The address from which the browser loads an image or an artifact; the query string grants access. */
  showImage: { method: 'GET', path: '/images/:imageId' },
} as const satisfies Routes

export const imageLimits = {
  /** The maximum size of an image: 10 MiB. */
  bytes: 10 * 1_048_576,
  /** The most pixels of one side. */
  side: 8_000,
  /** The most pixels over all frames together. */
  pixels: 50_000_000,
  frames: 200,
  nameLength: 200,
  aTask: 5,
  aMessage: 3,
  /** The most images of one person that are uploaded and not yet attached to a task or message. */
  waiting: 100,
} as const

export const imageTexts = {
  type: 'Only JPEG, PNG, GIF, and WebP images are allowed',
  size: 'Image size must be less than 10MB',
  pixels: 'An image can be at most 8,000 pixels a side and 50 megapixels, counting every frame.',
  frames: 'An animation can have at most 200 frames.',
  unreadable: 'This image is damaged or incomplete.',
  slow: 'This image takes too long to process. Use a smaller one.',
  missing: 'There is no such image. Upload it again.',
  unnamed: 'Refer to an image by its id, its url, or the response to its upload.',
} as const
