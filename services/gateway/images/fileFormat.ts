/** The container format of an image file: its type by its first bytes, and whether it is complete. Decoders are too lenient here. */
import type { MediaType } from '#domain/image.ts'

/** What the file is by its first bytes, whatever it is called; `undefined` when it is no image that is taken. */
export function mediaTypeOf(bytes: Buffer): MediaType | undefined {
  const starts = (text: string, at = 0) => bytes.toString('latin1', at, at + text.length) === text
  if (starts('\xff\xd8\xff')) return 'image/jpeg'
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif'
  return starts('RIFF') && starts('WEBP', 8) ? 'image/webp' : undefined
}

/** Whether the file reaches the end that its format marks; anything after it is ignored. JPEGs are left to the decoder. */
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

/** Chunk after chunk - length, type, data, checksum - until IEND: https://www.w3.org/TR/png-3/#5Chunk-layout */
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

/** Block after block until the trailer: https://www.w3.org/Graphics/GIF/spec-gif89a.txt */
function endsGif(bytes: Buffer): boolean {
  if (bytes.length < 13) return false
  let at = 13 + colourTable(bytes[10])
  for (;;) {
    const block = bytes[at]
    if (block === gifTrailer) return true
    if (block === gifExtension) at = afterSubBlocks(bytes, at + 2)
    // A descriptor, its colour table, and the smallest code of the compression; then the pixels.
    else if (block === gifImage) at = afterSubBlocks(bytes, at + 11 + colourTable(bytes[at + 9]))
    else return false
  }
}

/** Bytes of the colour table that the flags announce. */
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
