/** Texts about attaching and viewing images. */
import { imageTexts } from '#domain/api/images.ts'

export const texts = {
  attach: (most: number) => `Attach images, up to ${most}`,
  drop: (most: number) => `Drop images here, up to ${most}`,
  attached: 'Attached images',
  uploading: (name: string) => `Uploading ${name}`,
  progress: (size: string, percent: number) => `${size} · ${percent}%`,
  failed: 'Upload failed',
  retryOf: (name: string) => `Upload ${name} again`,
  remove: (name: string) => `Remove ${name}`,
  type: imageTexts.type,
  size: imageTexts.size,
  tooMany: (most: number, left: number) =>
    `Up to ${most} images. ${left === 1 ? '1 image was not attached.' : `${left} images were not attached.`}`,
  failedStay: 'Failed images are not sent.',
  stopped: 'An image failed to upload. Retry or remove it.',
  waiting: 'Sending once the images are uploaded.',
  notToCommands: "Commands can't include images.",
  missing: "This image can't be displayed.",
  addresses: 'Failed to fetch images',
  taskImages: (count: number) => `Task Images (${count} ${count === 1 ? 'image' : 'images'})`,
  images: (count: number) => `${count} ${count === 1 ? 'image' : 'images'}`,
  more: (count: number) => `+${count}`,
  open: (name: string) => `Open ${name}`,
  openMore: (count: number) => `Show ${count} more ${count === 1 ? 'image' : 'images'}`,
  place: (at: number, count: number) => (count === 1 ? '' : ` · ${at} of ${count}`),
  viewer: 'Images',
  previous: 'Previous image',
  next: 'Next image',
  close: 'Close',
} as const

/** `840 kB` or `1.2 MB`. A megabyte has 1,048,576 bytes, as in the size limit for images. */
export function sizeText(bytes: number): string {
  const kilo = bytes / 1_024
  return kilo < 1_000 ? `${Math.max(1, Math.round(kilo))} kB` : `${(kilo / 1_024).toFixed(1)} MB`
}
