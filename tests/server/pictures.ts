/** Pictures for tests, created when needed: with another colour in each quarter. */
import sharp, { type Sharp } from 'sharp'
import type { MediaType } from '#domain/image.ts'

/** A still picture of this size in pixels. */
export function picture(type: MediaType, width: number, height: number): Promise<Buffer> {
  return encoded(sharp(pixels(width, height), rawOf(width, height)), type).toBuffer()
}

/** An animation with this many frames of 120 ms, each different from the one before. */
export function animation(
  type: 'image/gif' | 'image/webp',
  frames: number,
  width: number,
  height: number,
): Promise<Buffer> {
  const all = Array.from({ length: frames }, (_, at) => pixels(width, height, at))
  const stacked = sharp(Buffer.concat(all), {
    raw: { width, height: height * frames, channels: 3, pageHeight: height },
  })
  const delay = Array.from({ length: frames }, () => 120)
  return type === 'image/gif'
    ? stacked.gif({ delay, effort: 1, keepDuplicateFrames: true }).toBuffer()
    : stacked.webp({ delay, effort: 0, lossless: true }).toBuffer()
}

function encoded(image: Sharp, type: MediaType): Sharp {
  switch (type) {
    case 'image/jpeg':
      return image.jpeg()
    case 'image/png':
      return image.png()
    case 'image/gif':
      return image.gif({ effort: 1 })
    case 'image/webp':
      return image.webp({ lossless: true, effort: 0 })
  }
}

const rawOf = (width: number, height: number) => ({ raw: { width, height, channels: 3 } }) as const
const colours = [
  [200, 40, 40],
  [40, 160, 60],
  [50, 60, 200],
  [230, 210, 90],
] as const

function pixels(width: number, height: number, turned = 0): Buffer {
  const bytes = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const quarter = (y * 2 < height ? 0 : 2) + (x * 2 < width ? 0 : 1)
      bytes.set(colours[(quarter + turned) % 4] ?? colours[0], (y * width + x) * 3)
    }
  }
  return bytes
}
