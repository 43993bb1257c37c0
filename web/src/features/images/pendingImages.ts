/** Images that somebody attached and has not sent yet: each is on its way to the server, there, or has failed. Pure. */
import type { ShownImage } from '#domain/api/images.schema.ts'

export type Upload =
  /** Percent, 0 to 100. */
  | { readonly kind: 'uploading'; readonly progress: number }
  | { readonly kind: 'completed'; readonly image: ShownImage }
  | { readonly kind: 'error'; readonly reason: string }

export interface PendingImage {
  readonly id: string
  readonly file: File
  /** An address of the file in this page, until it is given back. */
  readonly preview: string
  readonly upload: Upload
}

export type PendingEvent =
  | { readonly type: 'attached'; readonly images: readonly PendingImage[] }
  | { readonly type: 'changed'; readonly id: string; readonly upload: Upload }
  | { readonly type: 'removed'; readonly ids: readonly string[] }

/** The images after this; they keep the order in which they were attached, whichever is uploaded first. */
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

/** Those that can be sent, in their order: what failed or is under way is left out. */
export function completedOf(images: readonly PendingImage[]): readonly ShownImage[] {
  return images.flatMap(({ upload }) => (upload.kind === 'completed' ? [upload.image] : []))
}

/** Whether any of them is like this. */
export function someAre(images: readonly PendingImage[], kind: Upload['kind']): boolean {
  return images.some(({ upload }) => upload.kind === kind)
}
