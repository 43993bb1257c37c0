/**
 * Recognises the type of an artifact from its bytes, and makes the bytes that are kept: without the secrets that can be found in them, and with a
 * media type with which no browser runs them.
 */
import type { ArtifactType } from '#domain/api/artifacts.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { CheckImage } from '#platform/images/reencode.ts'
import type { Redaction } from '../../redaction/redaction.ts'

export type CheckedArtifact =
  | { readonly mediaType: ArtifactType; readonly bytes: Buffer }
  /** Why the file is not kept, worded to follow 'because'. */
  | { readonly because: string }

interface Checks {
  readonly checkImage: CheckImage
  readonly redaction: Pick<Redaction, 'text'>
}

/** Files with these endings are shown as text if they are text. */
const shownAsText = /\.(?:txt|log|json|md|csv|html?)$/i
/** The beginnings of pages, scripts and documents, which a harmless image or video does not contain. */
const otherFormat = /<(?:!doctype|html|head|body|script|iframe|svg)[\s>]|%PDF-\d/i
/** How the entries of a zip archive begin, in versions 1.0 and 2.0 of the format. */
const zipEntries = ['PK\x03\x04\n\0', 'PK\x03\x04\x14\0'] as const

/**
 * Checks a file. Text is redacted, and an image that can be decoded and contains no other format is encoded again. Any other file is kept as it is,
 * or refused if it contains a secret.
 */
export async function checkedArtifact(
  name: string,
  content: Buffer,
  { checkImage, redaction }: Checks,
): Promise<CheckedArtifact> {
  const type = typeOf(content)
  const text = type === undefined ? textOf(content) : undefined
  if (text !== undefined) {
    const mediaType = shownAsText.test(name) ? 'text/plain' : 'application/octet-stream'
    return { mediaType, bytes: Buffer.from(await redaction.text(text)) }
  }
  // In Latin 1, each byte is a character, so secrets in ASCII are found.
  const bytes = content.toString('latin1')
  const isPolyglot =
    type !== 'application/pdf' &&
    (otherFormat.test(bytes) || zipEntries.some((begin) => bytes.includes(begin)))
  if (type === 'image' && !isPolyglot) {
    const image = await checkImage(content).catch((fault: unknown) => {
      if (!(fault instanceof Fault)) throw fault
    })
    if (image) return { mediaType: image.mediaType, bytes: image.bytes }
  }
  if ((await redaction.text(bytes)) !== bytes) return { because: 'it contains a secret or a token' }
  const isPlain = type !== undefined && type !== 'image' && !isPolyglot
  return { mediaType: isPlain ? type : 'application/octet-stream', bytes: content }
}

/** The brands of MP4 files that are videos; files of the same structure with other brands may be images. */
const videoBrand = /^(?:iso\w|mp4\w|avc1|dash|M4V )$/

/** The type that the first bytes show: `image` for all images that are encoded again, `undefined` for other types. */
function typeOf(content: Buffer): 'image' | 'video/mp4' | 'video/webm' | 'application/pdf' | undefined {
  const begin = content.toString('latin1', 0, 64)
  if (/^(?:\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF[^]{4}WEBP)/.test(begin)) return 'image'
  if (begin.slice(4, 8) === 'ftyp' && videoBrand.test(begin.slice(8, 12))) return 'video/mp4'
  if (begin.startsWith('\x1aE\xdf\xa3') && begin.includes('webm')) return 'video/webm'
  return begin.startsWith('%PDF-') ? 'application/pdf' : undefined
}

/** The content as text; `undefined` when it is not UTF-8, or has a NUL. */
function textOf(content: Buffer): string | undefined {
  if (content.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return undefined
  }
}
