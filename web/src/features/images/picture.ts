/** An image as it is shown: what is known of it, and where it is. */
import type { ShownImage } from '#domain/api/images.schema.ts'
import type { NamedImage } from '#domain/task/commands.ts'

/** `url` is `null` until the server has said where it is: an event of a task says only which image it is. */
export type Picture = Omit<ShownImage, 'url'> & { readonly url: string | null }

/** The image of an event, that has no address yet. */
export function pictureOf({ imageId, name, mediaType, blob }: NamedImage): Picture {
  return { id: imageId, name, size: blob.size, type: mediaType, url: null }
}
