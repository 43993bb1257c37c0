/** Which of the files that were picked, pasted or dropped are accepted as images, and why the others are refused. Pure. */
import { imageLimits } from '#domain/api/images.ts'
import { texts } from './texts.ts'

/** The maximum numbers of attached images (contract, section 9). */
export const maxImages = {
  /** For a new task on the dashboard. */
  compact: imageLimits.aTask,
  /** For a message in the chat. */
  message: imageLimits.aMessage,
  /** For a caller of `usePendingImages` that names no maximum. */
  full: 999,
} as const

/** The types that a file picker offers. */
export const acceptedTypes = '.jpg,.jpeg,.png,.gif,.webp,image/jpeg,image/png,image/gif,image/webp'

export interface ChosenFiles {
  readonly accepted: readonly File[]
  /** A sentence for each reason why files were refused. */
  readonly refusals: readonly string[]
}

/** Chooses among `files` when `have` images are attached already and at most `most` are allowed. */
export function choose(files: readonly File[], have: number, most: number): ChosenFiles {
  const images = files.filter(isImage)
  const fitting = images.filter(({ size }) => size <= imageLimits.bytes)
  const accepted = fitting.slice(0, Math.max(0, most - have))
  const left = fitting.length - accepted.length
  return {
    accepted,
    refusals: [
      ...(images.length < files.length ? [texts.type] : []),
      ...(fitting.length < images.length ? [texts.size] : []),
      ...(left > 0 ? [texts.tooMany(most, left)] : []),
    ],
  }
}

/** Decides by the type, or by the name when the system knows no type. The server checks the content. */
function isImage({ type, name }: File): boolean {
  return type === '' ? /\.(jpe?g|png|gif|webp)$/i.test(name) : /^image\/(jpe?g|png|gif|webp)$/.test(type)
}
