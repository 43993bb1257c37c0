/** Uploaded images that are not discarded, and how the API shows an image. */
import type { ArtifactType } from '../api/artifacts.ts'
import type { ShownImage } from '../api/images.schema.ts'
import type { BlobRef } from '../kernel/ids.schema.ts'
import { sortKey, type RecordedOf } from '../kernel/event.ts'
import { scopeOfStream, taskStream } from '../kernel/streams.ts'
import type { NamedImage } from '../task/commands.ts'
import type { TaskEvent } from '../task/events.ts'
import { ownDocument, type View, type ViewDocument } from './view.ts'

export interface ImageDocument extends ViewDocument {
  readonly owner: string
  readonly isWaiting: boolean
  readonly uploadedAt: string
  /** The position of the upload as a text by which images are sorted. The oldest image is discarded first. */
  readonly order: string
}

export const imagesView: View<ImageDocument> = {
  collection: 'images',
  version: 1,
  streams: ['image'],
  indexes: [['order'], ['owner', 'isWaiting', 'order']],
  touches: ownDocument('image'),
  evolve: (image, event, id) => {
    switch (event.type) {
      case 'ImageUploaded':
        return {
          id,
          owner: event.data.ownerId,
          isWaiting: true,
          uploadedAt: event.at,
          order: sortKey(event.position),
          position: event.position,
          version: event.revision,
        }
      case 'ImageAttached':
        return image && { ...image, isWaiting: false, version: event.revision }
      case 'ImageDiscarded':
        return undefined
      default:
        return image
    }
  },
}

/** An image or artifact to which an address leads: its bytes, and the scope of the key with which they are encrypted. */
export interface SealedImage {
  readonly imageId: string
  readonly scope: string
  readonly blob: BlobRef
  readonly mediaType: ArtifactType
  readonly name: string
}

/** Makes the address of an image. The address expires, and must be given only to the owner of the image. */
export type AddressOf = (image: SealedImage) => string

type Queued = Extract<RecordedOf<TaskEvent>, { type: 'MessageQueued' }>

/** The images of a message with their names. Empty once the message was erased, because the images were erased with it. */
export function imagesOf({ data, content }: Queued): readonly NamedImage[] {
  if (content === null) return []
  return data.images.map((image, index) => ({ ...image, name: content.imageNames[index] ?? '' }))
}

/** An image of a task as the API shows it. */
export function shownImage(
  image: Pick<NamedImage, 'imageId' | 'blob' | 'mediaType' | 'name'>,
  taskId: string,
  addressOf: AddressOf,
): ShownImage {
  const { imageId, blob, mediaType, name } = image
  const url = addressOf({ imageId, scope: scopeOfStream(taskStream(taskId)), blob, mediaType, name })
  return { id: imageId, url, name, size: blob.size, type: mediaType }
}
