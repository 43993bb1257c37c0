/** Which of the files that somebody picked, pasted or dropped are taken as images, and what is said of the others. Pure. */
import { imageLimits } from '#domain/api/images.ts'
import { texts } from './texts.ts'

/** How many images go with one thing (section 9). */
export const imagesAtMost = {
  /** The small button of the dashboard. */
  compact: imageLimits.aTask,
  /** A message in the chat. */
  message: imageLimits.aMessage,
  /** Wherever nothing else is said. */
  full: 999,
} as const

/** What a file picker offers. */
export const acceptedTypes = '.jpg,.jpeg,.png,.gif,.webp,image/jpeg,image/png,image/gif,image/webp'

export interface Chosen {
  readonly taken: readonly File[]
  /** A sentence for each reason why something was left; empty when nothing was. */
  readonly refusals: readonly string[]
}

/** Chooses among `files` where `have` of `most` images are attached already. */
export function choose(files: readonly File[], have: number, most: number): Chosen {
  const images = files.filter(isImage)
  const fitting = images.filter(({ size }) => size <= imageLimits.bytes)
  const taken = fitting.slice(0, Math.max(0, most - have))
  const left = fitting.length - taken.length
  return {
    taken,
    refusals: [
      ...(images.length < files.length ? [texts.type] : []),
      ...(fitting.length < images.length ? [texts.size] : []),
      ...(left > 0 ? [texts.tooMany(most, left)] : []),
    ],
  }
}

/** By its type, or by its name where the system knows no type. What it really is, the server sees. */
function isImage({ type, name }: File): boolean {
  return type === '' ? /\.(jpe?g|png|gif|webp)$/i.test(name) : /^image\/(jpe?g|png|gif|webp)$/.test(type)
}
