/** The images attached to a message that was not sent yet: the upload of each is under way, complete or failed. Pure. */
import type { ShownImage } from '#domain/api/images.schema.ts'

export type Upload =
  /** `progress` is in percent, 0 to 100. */
  | { readonly kind: 'uploading'; readonly progress: number }
  | { readonly kind: 'completed'; readonly image: ShownImage }
  | { readonly kind: 'error'; readonly reason: string }

export interface PendingImage {
  readonly id: string
  readonly file: File
  /** An object URL of the file, which must be revoked. */
  readonly preview: string
  readonly upload: Upload
}

export type PendingEvent =
  | { readonly type: 'attached'; readonly images: readonly PendingImage[] }
  | { readonly type: 'changed'; readonly id: string; readonly upload: Upload }
  | { readonly type: 'removed'; readonly ids: readonly string[] }

/** The images after the event, in the order in which they were attached. */
export function pendingAfter(images: readonly PendingImage[], event: PendingEvent): readonly PendingImage[] {
  switch (event.type) {
    case 'attached':
      return [...images, ...event.images]
    case 'changed':
      return images.map((image) => (image.id === event.id ? { ...image, upload: event.upload } : image))
    case 'removed':
      return images.filter(({ id }) => !event.ids.includes(id))
  }
}

/** The uploaded images, in their order. */
export function completedOf(images: readonly PendingImage[]): readonly ShownImage[] {
  return images.flatMap(({ upload }) => (upload.kind === 'completed' ? [upload.image] : []))
}

/** Whether the upload of any image is in this state. */
export function someAre(images: readonly PendingImage[], kind: Upload['kind']): boolean {
  return images.some(({ upload }) => upload.kind === kind)
}
