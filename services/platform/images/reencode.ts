/**
 * Reads an uploaded image completely and writes it again. The new file has only the pixels, upright and in one of four formats, without metadata and
 * without anything that was hidden in or behind the uploaded file.
 */
import type { Sharp, SharpOptions } from 'sharp'
import { imageLimits, imageTexts } from '#domain/api/images.ts'
import type { MediaType } from '#domain/image.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { openDecoder } from './decoder.ts'

interface CheckedImage {
  readonly bytes: Buffer
  readonly mediaType: MediaType
  /** The width and the height of one frame, in pixels. */
  readonly width: number
  readonly height: number
}

/** Checks an image. Throws a `Fault` with a sentence that says what is wrong with it. */
export type CheckImage = (bytes: Buffer) => Promise<CheckedImage>

const field = 'image'
const decodingSeconds = 10

const reading: SharpOptions = {
  limitInputPixels: imageLimits.pixels,
  // Broken pixel data is an error, unlike faults for which decoders only give warnings.
  failOn: 'error',
  // All frames of an animation are read.
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
    // The frames of an animation cannot be turned, and need not be, since cameras make no animations.
    const upright = pages === 1 ? pixels.autoOrient() : pixels
    const { data, info } = await written(upright, mediaType).toBuffer({ resolveWithObject: true })
    return { bytes: data, mediaType, width: info.width, height: info.pageHeight ?? info.height }
  } catch (fault) {
    throw fault instanceof Fault ? fault : faultOf(fault)
  }
}

/** Sets the output format. Without sharp's `keepMetadata`, nothing but pixels, the loop count and delays is written, and colours become sRGB. */
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

/** Turns a decoder's error into a refusal, because only the image can cause it. */
function faultOf(fault: unknown): Fault {
  const message = fault instanceof Error ? fault.message : ''
  if (/pixel limit/.test(message)) return refused(imageTexts.pixels)
  if (/timeout/.test(message)) return new Fault('too_large', imageTexts.slow, field)
  return refused(imageTexts.unreadable)
}

function refused(sentence: string): Fault {
  return new Fault('invalid_input', sentence, field)
}

/** The type of the file by its first bytes, whatever its name is; `undefined` when it is no image of an accepted type. */
function mediaTypeOf(bytes: Buffer): MediaType | undefined {
  const starts = (text: string, at = 0) => bytes.toString('latin1', at, at + text.length) === text
  if (starts('\xff\xd8\xff')) return 'image/jpeg'
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif'
  return starts('RIFF') && starts('WEBP', 8) ? 'image/webp' : undefined
}

/** Whether the file contains the end that its format requires; anything after that is ignored. Decoders are too lenient here, except for JPEGs. */
export function isWhole(bytes: Buffer, mediaType: MediaType): boolean {
  switch (mediaType) {
    case 'image/png':
      return endsPng(bytes)
    case 'image/gif':
      return endsGif(bytes)
    case 'image/webp':
      return bytes.length >= 12 && bytes.readUInt32LE(4) + 8 <= bytes.length
    case 'image/jpeg':
      return true
  }
}

/** Whether a PNG is complete. Reads chunk after chunk (length, type, data, checksum) until IEND: https://www.w3.org/TR/png-3/#5Chunk-layout */
function endsPng(bytes: Buffer): boolean {
  let at = 8
  while (at + 12 <= bytes.length) {
    const type = bytes.toString('latin1', at + 4, at + 8)
    at += 12 + bytes.readUInt32BE(at)
    if (type === 'IEND') return at <= bytes.length
  }
  return false
}

const gifImage = 0x2c
const gifExtension = 0x21
const gifTrailer = 0x3b

/** Whether a GIF is complete. Reads block after block until the trailer: https://www.w3.org/Graphics/GIF/spec-gif89a.txt */
function endsGif(bytes: Buffer): boolean {
  if (bytes.length < 13) return false
  let at = 13 + colourTable(bytes[10])
  for (;;) {
    const block = bytes[at]
    if (block === gifTrailer) return true
    if (block === gifExtension) at = afterSubBlocks(bytes, at + 2)
    // A descriptor, its colour table and the minimum code size of the compression come before the pixels.
    else if (block === gifImage) at = afterSubBlocks(bytes, at + 11 + colourTable(bytes[at + 9]))
    else return false
  }
}

/** The size in bytes of the colour table that the flags announce. */
function colourTable(flags = 0): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1)
}

function afterSubBlocks(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length) {
    const length = bytes[at] ?? 0
    at += length + 1
    if (length === 0) break
  }
  return at
}
