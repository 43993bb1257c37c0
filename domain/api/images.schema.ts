/** Uploading an image, and attaching it to a task or a message. */
import { z } from 'zod'
import { mediaTypes } from '../image.ts'
import { ImageId } from '../kernel/ids.schema.ts'
import { defineWrite } from './call.schema.ts'
import { Text } from './fields.schema.ts'
import { imageRoutes, imageTexts } from './images.ts'

/** An image in an answer of the API. `url` is valid for some minutes, for anybody who has it. */
export const ShownImage = z.object({
  id: z.string(),
  url: z.string(),
  name: z.string(),
  /** The size in bytes, as stored. */
  size: z.number(),
  type: z.enum(mediaTypes),
})
export type ShownImage = z.infer<typeof ShownImage>

/** The request body is a form, `multipart/form-data`, with the file in the field `image`. */
export const uploadImage = defineWrite(imageRoutes.uploadImage, {
  summary: 'Uploads an image for a task or message. It is deleted after a day if it is not attached to one.',
  status: 201,
  answer: ShownImage.shape,
  faults: ['unsupported_type', 'too_large', 'too_slow', 'rate_limited'],
})

const address = /^(?:https?:\/\/[^/?#]+)?\/api\/images\/([^/?#]+)(?:[?#].*)?$/
const Name = Text.max(8_192)
const NamedImage = z.union([Name, z.object({ id: Name.optional(), url: Name.optional() })], {
  error: imageTexts.unnamed,
})

/** An image to attach: its id, its address, or an object with one of them. The result is the id. */
export const AttachedImage = NamedImage.transform((named, context) => {
  const id = typeof named === 'string' ? idIn(named) : (named.id ?? idIn(named.url ?? ''))
  if (ImageId.safeParse(id).success) return id
  context.addIssue({ code: 'custom', message: imageTexts.unnamed })
  return z.NEVER
})

/** The images of a task or a message. The result has no duplicates. */
export const attachedImages = (most: number) =>
  z
    .array(AttachedImage)
    .max(most, `Attach at most ${most} images.`)
    .transform((ids) => [...new Set(ids)])

/** The id in an image address; any other text is taken as the id itself. */
function idIn(named: string): string {
  return address.exec(named)?.[1] ?? named
}
