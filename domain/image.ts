/** An uploaded image: `none -> kept -> discarded`. Messages have their own copies, so the upload can be discarded. */
import { z } from 'zod'
import { BlobRef, ImageId, MessageId, TaskId, UserId } from './kernel/ids.schema.ts'
import { event, fact, type EventOf } from './kernel/event.schema.ts'
import type { Decider, Decision } from './kernel/decider.ts'
import { refuse } from './kernel/errors.ts'
import type { RecordedOf } from './kernel/event.ts'

export const mediaTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const
export const MediaType = z.enum(mediaTypes)
export type MediaType = z.infer<typeof MediaType>

/** The facts about an image. Width and height are in pixels. */
export const imageFacts = {
  imageId: ImageId,
  mediaType: MediaType,
  width: z.int().positive(),
  height: z.int().positive(),
  blob: BlobRef,
}

/** The image was stored, encrypted under a key of its own. */
export const ImageUploaded = event('ImageUploaded', 1, {
  data: z.object({ ...imageFacts, ownerId: UserId }),
  content: z.object({ name: z.string() }),
})
/** A copy of the image, encrypted under the task's key, became part of a message. The image can be attached again until it is discarded. */
export const ImageAttached = fact('ImageAttached', { taskId: TaskId, messageId: MessageId })
/** The image's bytes and key were deleted; the copies in messages remain. */
export const ImageDiscarded = fact('ImageDiscarded', {})

export const imageEvents = [ImageUploaded, ImageAttached, ImageDiscarded] as const
export type ImageEvent = EventOf<(typeof imageEvents)[number]>

type Uploaded = z.infer<(typeof ImageUploaded)['data']>

export interface KeptImage extends Uploaded {
  readonly kind: 'kept'
  /** The name of the image's file; `''` when it was erased. */
  readonly name: string
  /** When the image was uploaded, in the format of ISO 8601. */
  readonly uploadedAt: string
  readonly isAttached: boolean
}

export type ImageState =
  | { readonly kind: 'none' }
  | KeptImage
  | { readonly kind: 'discarded'; readonly ownerId: string }

export type ImageCommand =
  | { readonly type: 'UploadImage'; readonly image: Uploaded; readonly name: string }
  | { readonly type: 'AttachImage'; readonly taskId: string; readonly messageId: string }
  | { readonly type: 'DiscardImage' }

const sentence = 'There is no such image.'

function decide(command: ImageCommand, state: ImageState): Decision<ImageEvent> {
  switch (command.type) {
    case 'UploadImage':
      return state.kind === 'none'
        ? [ImageUploaded.of(command.image, { name: command.name })]
        : refuse('already_exists')
    case 'AttachImage':
      if (state.kind === 'none') return refuse('not_found', sentence)
      // The message already has its copy of the image. A discarded image needs no event.
      return state.kind === 'kept' && !state.isAttached
        ? [ImageAttached.of({ taskId: command.taskId, messageId: command.messageId })]
        : []
    case 'DiscardImage':
      if (state.kind === 'none') return refuse('not_found', sentence)
      return state.kind === 'kept' ? [ImageDiscarded.of({})] : []
  }
}

function evolve(state: ImageState, event: RecordedOf<ImageEvent>): ImageState {
  if (event.type === 'ImageUploaded') {
    const name = event.content?.name ?? ''
    return { kind: 'kept', ...event.data, name, uploadedAt: event.at, isAttached: false }
  }
  if (state.kind !== 'kept') return state
  switch (event.type) {
    case 'ImageAttached':
      return { ...state, isAttached: true }
    case 'ImageDiscarded':
      return { kind: 'discarded', ownerId: state.ownerId }
  }
}

export const image: Decider<ImageState, ImageCommand, ImageEvent> = {
  initial: { kind: 'none' },
  decide,
  evolve,
}
