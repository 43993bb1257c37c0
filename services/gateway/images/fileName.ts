/** The names under which uploaded images are stored, and the header that tells a browser the name of a file. */
import { imageLimits } from '#domain/api/images.ts'
import type { MediaType } from '#domain/image.ts'

const endings: Record<MediaType, readonly [string, ...string[]]> = {
  'image/jpeg': ['jpg', 'jpeg', 'jpe', 'jfif'],
  'image/png': ['png'],
  'image/gif': ['gif'],
  'image/webp': ['webp'],
}

/** The last part of the file name, on one line, at most 200 characters, with an ending that matches the media type. */
export function nameOf(told: string, type: MediaType): string {
  const last = told.split(/[\\/]/).at(-1) ?? ''
  // Removes control and format characters, which may change the direction of text, and lone surrogates.
  const plain = last.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '').trim()
  const ending = /\.([^.]*)$/.exec(plain)?.[1]?.toLowerCase() ?? ''
  const [usual] = endings[type]
  const isTrue = endings[type].includes(ending)
  const stem = isTrue ? plain.slice(0, -ending.length - 1) : plain
  const cutStem = [...stem].slice(0, imageLimits.nameLength - ending.length - usual.length - 2).join('')
  return `${cutStem || 'image'}.${isTrue ? ending : usual}`
}

/**
 * The value of a `Content-Disposition` header with the file's name without folders: https://www.rfc-editor.org/rfc/rfc6266. A browser shows an
 * `inline` file in the page, and saves an `attachment`.
 */
export function dispositionOf(path: string, shown: 'inline' | 'attachment' = 'inline'): string {
  const name = path.split('/').at(-1) ?? ''
  const encoded = encodeURIComponent(name).replace(/['()*!]/g, hexOf)
  return `${shown}; filename*=UTF-8''${encoded}`
}

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
