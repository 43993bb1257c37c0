/** What happens to an image that was uploaded: it waits to be attached to a message, and goes when its time is over. */
import { z } from 'zod'
import { BlobRef, ImageId, MessageId, TaskId, UserId } from '../kernel/ids.schema.ts'
import { event, none, type EventOf } from '../kernel/event.schema.ts'

export const mediaTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const
export const MediaType = z.enum(mediaTypes)
export type MediaType = z.infer<typeof MediaType>

/** What is known of an image, wherever it is kept; `blob.size` is its size in bytes, width and height are in pixels. */
export const imageFacts = {
  imageId: ImageId,
  mediaType: MediaType,
  width: z.int().positive(),
  height: z.int().positive(),
  blob: BlobRef,
}

/** The image is kept, sealed under a key of its own. */
export const ImageUploaded = event('ImageUploaded', 1, {
  data: z.object({ ...imageFacts, ownerId: UserId }),
  content: z.object({ name: z.string() }),
})
/** A message has a copy of it, sealed under the task's key. It waits no more, and may be attached again until it is discarded. */
export const ImageAttached = event('ImageAttached', 1, {
  data: z.object({ taskId: TaskId, messageId: MessageId }),
  content: none,
})
/** Its bytes and its key are gone; copies that messages have are not. */
export const ImageDiscarded = event('ImageDiscarded', 1, { data: z.object({}), content: none })

export const imageEvents = [ImageUploaded, ImageAttached, ImageDiscarded] as const
export type ImageEvent = EventOf<(typeof imageEvents)[number]>
