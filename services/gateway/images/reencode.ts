/**
 * An image that somebody sent, read whole and rewritten: what is kept is pixels in one of four formats, upright, without metadata and
 * without anything that was hidden in or behind the file.
 */
import type { Sharp, SharpOptions } from 'sharp'
import { imageLimits, imageTexts } from '#domain/api/images.ts'
import type { MediaType } from '#domain/image.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { openDecoder } from '#platform/images/decoder.ts'
import { isWhole, mediaTypeOf } from './fileFormat.ts'

export interface CheckedImage {
  readonly bytes: Buffer
  readonly mediaType: MediaType
  /** In pixels, of one frame. */
  readonly width: number
  readonly height: number
}

/** Throws a `Fault` with a sentence that says what is wrong with the image. */
export type CheckImage = (bytes: Buffer) => Promise<CheckedImage>

const field = 'image'
const decodingSeconds = 10

const reading: SharpOptions = {
  limitInputPixels: imageLimits.pixels,
  // Broken pixel data is an error; what decoders only warn of is not.
  failOn: 'error',
  // Every frame.
  animated: true,
  sequentialRead: true,
}

export const checkImage: CheckImage = async (bytes) => {
  const mediaType = mediaTypeOf(bytes)
  if (mediaType === undefined) throw refused(imageTexts.type)
  if (!isWhole(bytes, mediaType)) throw refused(imageTexts.unreadable)
  const sharp = await openDecoder()
  try {
    const found = await sharp(bytes, reading).metadata()
    const { width, pages = 1, pageHeight = found.height } = found
    if (pages > imageLimits.frames) throw refused(imageTexts.frames)
    if (width > imageLimits.side || pageHeight > imageLimits.side) throw refused(imageTexts.pixels)
    const pixels = sharp(bytes, reading).timeout({ seconds: decodingSeconds })
    // The frames of an animation cannot be turned; cameras make none.
    const upright = pages === 1 ? pixels.autoOrient() : pixels
    const { data, info } = await written(upright, mediaType).toBuffer({ resolveWithObject: true })
    return { bytes: data, mediaType, width: info.width, height: info.pageHeight ?? info.height }
  } catch (fault) {
    throw fault instanceof Fault ? fault : faultOf(fault)
  }
}

/** Without `keepMetadata` nothing but pixels, loop and delays is written; colours become sRGB. */
function written(pixels: Sharp, mediaType: MediaType): Sharp {
  switch (mediaType) {
    case 'image/jpeg':
      return pixels.jpeg({ quality: 90 })
    case 'image/png':
      return pixels.png()
    case 'image/gif':
      return pixels.gif({ effort: 1 })
    case 'image/webp':
      return pixels.webp({ quality: 90, effort: 2 })
  }
}

/** Turns a decoder's error into a refusal: nothing but the image can make it fail. */
function faultOf(fault: unknown): Fault {
  const told = fault instanceof Error ? fault.message : ''
  if (/pixel limit/.test(told)) return refused(imageTexts.pixels)
  if (/timeout/.test(told)) return new Fault('too_large', imageTexts.slow, field)
  return refused(imageTexts.unreadable)
}

function refused(sentence: string): Fault {
  return new Fault('invalid_input', sentence, field)
}
